// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

struct Refused: Error {}

func login(_ name: String) -> Promise<Int> { Promise { fulfill, _ in fulfill(name.count) } }
/// A future of another library, such as a promise of PromiseKit.
struct OtherFuture: Thenable {
  func whenSettled(_ resolver: CallbackResolver<Int>) { resolver(9) }
}

func avatar(_ user: Int) -> Promise<String> { .fulfilled("avatar \(user)") }

try runBlocking {
  // firstly { login() }.then { avatar($0) }.done { … }.catch { … }.finally { … }
  do {
    let user = try login("ada").await()
    print(try avatar(user).await())  // prints avatar 3
  } catch { print("not logged in") }

  // The same as a chain.
  let chain = login("ada")
    .then { user in avatar(user) }
    .then { picture in picture.count }
    .catch { error in print(error) }
    .recover { _ in 0 }
    .finally { print("done") }  // prints done
  print(try chain.await())  // prints 8

  // Promise.pending(), Promise.value(x), Promise(error: e)
  let pending = Promise<Int>()
  print(pending.isPending, pending.fulfill(1), pending.isFulfilled)  // prints true true true
  print(pending.reject(Refused()))  // prints false
  let rejected = Promise<Int>.rejected(Refused())
  print(rejected.isRejected, rejected.error ?? "no error", pending.value ?? 0)
  // prints true Refused() 1
  if case .success(let value) = pending.outcome { print(value) }  // prints 1

  // when(fulfilled:), when(resolved:), race
  print(try Promise.all([login("a"), login("bc")]).await())  // prints [1, 2]
  print(try Promise.allSettled([pending, rejected]).await().count)  // prints 2
  print(try Promise.race([pending, rejected]).await())  // prints 1
  print(try Promise.any([rejected, pending]).await())  // prints 1
  let limit = CoroutineSemaphore(permits: 2)
  let sum = try withCoroutineScope { scope in
    let users = ["a", "bc", "def"].map { name in
      scope.launch { try limit.withPermit { try login(name).await() } }
    }
    return try users.map { try $0.value() }.reduce(0, +)
  }
  print(sum)  // prints 6
  let (number, text) = try awaitAll(login("a"), avatar(7))
  print(try number.get(), try text.get())  // prints 1 avatar 7

  // after(seconds:), queue.async(.promise), seal.resolve(value, error)
  try Coroutine.sleep(for: .milliseconds(1))
  print(try launch(on: DispatchQueue.global()) { 6 * 7 }.value())  // prints 42
  print(try Promise(on: DispatchQueue.global()) { fulfill, _ in fulfill(43) }.await())  // prints 43
  let answer: Int = try awaitCallback { done in done(7, nil) }
  print(answer)  // prints 7

  print(try Promise(following: OtherFuture()).await())  // prints 9

  // CancellablePromise
  let endless = Promise<Int>()
  endless.onCancel { _ in print("stopped") }
  endless.cancel()  // prints stopped
  do {
    _ = try endless.await()
  } catch PromiseError.cancelled { print("cancelled") }  // prints cancelled
}
