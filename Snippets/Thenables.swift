// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

/// Another library's future.
final class OtherFuture<Value: Sendable>: Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
  func onValue(_ handler: @escaping @Sendable (Value) -> Void) {
    DispatchQueue.global().async { handler(self.value) }
  }
}

extension OtherFuture: Thenable {
  func whenSettled(_ resolver: CallbackResolver<Value>) {
    onValue { resolver($0) }
  }
}

try runBlocking {
  print(try Promise(following: OtherFuture(6)).await())  // prints 6
  let product = Promise.fulfilled(6).then { OtherFuture($0 * 7) }
  print(try product.await())  // prints 42
}
