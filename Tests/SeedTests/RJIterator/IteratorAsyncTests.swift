// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import HTTPTestServer
import Testing
import coswift

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// "RJIterator", sections "Asynchronous programming made better" on iOS, and "Better names: async/await".
///
/// These samples need the main queue, so they are played in processes of their own only.
@Suite(.timeLimit(.minutes(30))) struct IteratorAsyncTests {
  // readFileWithPath:, with AsyncClosure. The document hands over an empty error every time, which would make
  // every step a failure (C13).
  private static func readFile(_ path: String) -> RJAsyncClosure {
    { resultCallback in
      DispatchQueue.global().async {
        do {
          resultCallback(try Data(contentsOf: URL(fileURLWithPath: path)), nil)
        } catch {
          resultCallback(nil, error)
        }
      }
    }
  }

  // readFileWithPath:, with AnyPromise
  private static func readFilePromise(_ path: String) -> Promise<Data> {
    Promise { fulfill, reject in
      DispatchQueue.global().async {
        do {
          fulfill(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
          reject(error)
        }
      }
    }
  }

  /// `id <LikePromise>`: another library's promise.
  private final class LikePromise: RJThenable {
    private let promise: Promise<Data>

    init(_ promise: Promise<Data>) {
      self.promise = promise
    }

    func rj_then(
      _ fulfilled: @escaping @Sendable (Any?) -> Void,
      _ rejected: @escaping @Sendable (Any?) -> Void
    ) {
      promise.then { fulfilled($0) }
      promise.catch { rejected($0) }
    }
  }

  /// A result as text.
  private static func words(_ result: RJResult?) -> String {
    if result?.error != nil { return "error" }
    return (result?.value as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
  }

  private static func makeFolder() -> Folder? {
    try? Folder(["path1": "one", "path2": "two", "path3": "three"])
  }

  // void executor(dispatch_block_t block), written by hand: the iterator's yields are closures, promises or
  // anything else, and go on on the main queue. The samples below use the library's own, rj_async.
  private final class Executor: @unchecked Sendable {
    // SAFETY: used on the main queue only.
    private let iterator: RJIterator
    private var result = RJResult(value: nil)
    private let whenDone: () -> Void

    init(_ block: @escaping () throws -> Void, whenDone: @escaping () -> Void) {
      iterator = RJIterator(standardBlock: block)
      self.whenDone = whenDone
    }

    func start() {
      DispatchQueue.main.async {
        self.result = self.iterator.next()
        self.step()
      }
    }

    private func step() {
      if result.done {
        whenDone()
      } else if let closure = result.value as? RJAsyncClosure {
        closure { self.goOn(RJResult(value: $0, error: $1)) }
      } else if let promise = result.value as? any RJThenable {
        promise.rj_then(
          { self.goOn(RJResult(value: $0)) },
          { self.goOn(RJResult(value: nil, error: $0)) }
        )
      } else {
        result = iterator.next(RJResult(value: result.value))
        step()
      }
    }

    private func goOn(_ outcome: RJResult) {
      DispatchQueue.main.async {
        self.result = self.iterator.next(outcome)
        self.step()
      }
    }
  }

  // executor(^{ Result *result1 = yield([self readFileWithPath:@".../path1"]); … })
  static let executor = Scenario(
    "RJIterator, the executor",
    expected: ["caller goes on", "one", "two", "error", "plain", "end"]
  ) { play in
    guard let folder = makeFolder() else { return play.finish() }
    Executor {
      let result1 = try rj_yield(readFile(folder.path("path1"))) as? RJResult
      dispatchPrecondition(condition: .onQueue(.main))
      play.log(words(result1))
      let result2 = try rj_yield(readFilePromise(folder.path("path2"))) as? RJResult
      dispatchPrecondition(condition: .onQueue(.main))
      play.log(words(result2))
      let result3 = try rj_yield(readFile(folder.path("path3x"))) as? RJResult
      play.log(words(result3))
      let result4 = try rj_yield("plain") as? RJResult
      play.log("\(result4?.value ?? "nothing")")
    } whenDone: {
      play.log("end")
      play.finish()
    }
    .start()
    play.log("caller goes on")
  }

  @Test func `an executor of fifty lines turns an iterator into async and await`() async {
    await #expect(processExitsWith: .success) {
      await checkOnMainQueue(IteratorAsyncTests.executor)
    }
  }

  // async(^{ Result *result1 = await([self readFileWithPath:@".../path1"]); … })
  static let readFiles = Scenario(
    "RJIterator, async and await",
    expected: ["caller goes on", "one", "two", "three", "finally"]
  ) { play in
    guard let folder = makeFolder() else { return play.finish() }
    rj_async {
      let result1 = try rj_await(readFile(folder.path("path1")))
      if result1.error != nil { return play.log("step 1 failed") }
      play.log(words(result1))

      let result2 = try rj_await(readFilePromise(folder.path("path2")))
      // The document looks at result1 here, and in step 3 (C13).
      if result2.error != nil { return play.log("step 2 failed") }
      play.log(words(result2))

      let result3 = try rj_await(LikePromise(readFilePromise(folder.path("path3"))))
      if result3.error != nil { return play.log("step 3 failed") }
      dispatchPrecondition(condition: .onQueue(.main))
      play.log(words(result3))
    }
    .finally {
      play.log("finally")
      play.finish()
    }
    play.log("caller goes on")
  }

  @Test func `rj_async reads three files, by closure, promise and another library's promise`() async
  {
    await #expect(processExitsWith: .success) {
      await checkOnMainQueue(IteratorAsyncTests.readFiles)
    }
  }

  static let readMissingFile = Scenario(
    "RJIterator, async and await, with a failure",
    expected: ["one", "step 2 failed", "finally"]
  ) { play in
    guard let folder = makeFolder() else { return play.finish() }
    rj_async {
      let result1 = try rj_await(readFile(folder.path("path1")))
      if result1.error != nil { return play.log("step 1 failed") }
      play.log(words(result1))

      let result2 = try rj_await(readFile(folder.path("path2x")))
      if result2.error != nil { return play.log("step 2 failed") }
      play.log(words(result2))
    }
    .finally {
      play.log("finally")
      play.finish()
    }
  }

  @Test func `a step that fails is seen at its result, and the rest is not begun`() async {
    await #expect(processExitsWith: .success) {
      await checkOnMainQueue(IteratorAsyncTests.readMissingFile)
    }
  }

  // "async function foo() { let value = await … }", four times: awaits of what is there already
  static let sugar = Scenario(
    "RJIterator, the sugar",
    expected: ["1", "2", "3", "4", "finally"]
  ) { play in
    func operation(_ number: Int) -> RJAsyncClosure { { callback in callback(number, nil) } }
    rj_async {
      for number in 1...4 {
        let value = try rj_await(operation(number)).value
        play.log("\(value ?? "nothing")")
      }
    }
    .finally {
      play.log("finally")
      play.finish()
    }
  }

  @Test func `operations that are done at once are awaited like the others`() async {
    await #expect(processExitsWith: .success) { await checkOnMainQueue(IteratorAsyncTests.sugar) }
  }

  /// `GET` as an asynchronous closure: value and error, like every task of RJIterator's.
  private static func get(_ url: URL) -> RJAsyncClosure {
    { callback in
      URLSession.shared.dataTask(with: url) { data, response, error in
        let code = (response as? HTTPURLResponse)?.statusCode ?? 0
        if code == 200 {
          callback(data, nil)
        } else {
          callback(nil, error ?? NSError(domain: "HTTP", code: code))
        }
      }
      .resume()
    }
  }

  /// Logs in, asks for the profile with what that gave, and loads the picture that the profile names.
  private static func login(_ server: HTTPTestServer, _ password: String, _ play: Play) {
    play.log("shows the wheel")
    rj_async {
      let login = try rj_await(get(server.url("/login?password=\(password)")))
      if let error = login.error as? NSError { return play.log("refused, \(error.code)") }
      let token = words(login)

      let profile = try rj_await(get(server.url("/profile?token=\(token)")))
      if profile.error != nil { return play.log("no profile") }
      play.log("profile: \(words(profile))")

      let picture = try rj_await(get(server.url(words(profile))))
      guard let image = (picture.value as? Data).flatMap({ Picture(data: $0) }) else {
        return play.log("no picture")
      }
      dispatchPrecondition(condition: .onQueue(.main))
      play.log("shows \(image)")
    }
    .finally {
      play.log("hides the wheel")
      play.finish()
    }
  }

  private static func loginServer() -> HTTPTestServer? {
    try? HTTPTestServer(routes: [
      "/login": HTTPTestBehaviour {
        let isRight = $0.request.query == "password=right"
        try $0.respond(isRight ? 200 : 401, body: Data((isRight ? "token" : "").utf8))
      },
      "/profile": HTTPTestBehaviour {
        let isRight = $0.request.query == "token=token"
        try $0.respond(isRight ? 200 : 403, body: Data((isRight ? "/head.pgm" : "").utf8))
      },
      "/head.pgm": .body(Picture.file),
    ])
  }

  // The project that the article is about shows this flow: each request needs the answer to the one before.
  static let loginFlow = Scenario(
    "RJIterator, a login",
    expected: [
      "shows the wheel", "profile: /head.pgm", "shows 3 x 2 pixels", "hides the wheel",
    ]
  ) { play in
    guard let server = loginServer() else { return play.finish() }
    login(server, "right", play)
  }

  static let refusedLogin = Scenario(
    "RJIterator, a login that is refused",
    expected: ["shows the wheel", "refused, 401", "hides the wheel"]
  ) { play in
    guard let server = loginServer() else { return play.finish() }
    login(server, "wrong", play)
  }

  @Test func `a login asks three times, each time with the answer before, and hides its wheel`()
    async
  {
    await #expect(processExitsWith: .success) {
      await checkOnMainQueue(IteratorAsyncTests.loginFlow)
    }
  }

  @Test func `a login that is refused returns early, and hides its wheel, too`() async {
    await #expect(processExitsWith: .success) {
      await checkOnMainQueue(IteratorAsyncTests.refusedLogin)
    }
  }
}
