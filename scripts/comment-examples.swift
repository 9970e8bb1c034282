// SPDX-License-Identifier: Apache-2.0
//
// What the examples in documentation comments take for granted; see docexamples.py. A section stands
// before the example of that file, inside the same function, and makes it compile. With a number it is
// for that example of several; after "file:" both stand at the top of a file. What the library makes and
// nobody else can is `unmade`.

// == CoroutinesFoundation/CoroutineNamespace.swift
let url = URL(fileURLWithPath: "/"), path = "/"
// == file: CoroutinesFoundation/Notifications/EventStream.swift
extension Notification.Name { static let configurationChanged = Notification.Name("changed") }
func reload(_ change: Notification) {}
// == CoroutinesFoundation/Processes/Process+Run.swift 2
let process = Process()
// == CoroutinesFoundation/Networking/ResponseBody.swift
let session = URLSession.shared, url = URL(fileURLWithPath: "/")
struct Hash { mutating func update(data: Data) {} }
var hash = Hash()
// == CoroutinesFoundation/Networking/ResumableDownload.swift
let session = URLSession.shared, url = URL(fileURLWithPath: "/"), file = url
// == CoroutinesFoundation/RunLoops/Scheduler+RunLoop.swift
final class Label: @unchecked Sendable { var text = "" }
func download(_ url: URL) throws -> (title: String, length: Int) { ("", 0) }
let label = Label(), url = URL(fileURLWithPath: "/")
// == CoroutinesFoundation/Networking/URLSession+Progress.swift
struct Bar { func draw(_ fraction: Double) {} }
let bar = Bar(), session = URLSession.shared
let request = URLRequest(url: URL(fileURLWithPath: "/"))
// == CoroutinesFoundation/Parsing/XMLParser+Coroutine.swift
let url = URL(fileURLWithPath: "/")
// == CoroutinesIO/Streams/BufferedReader.swift
let stream = try ByteStream.standardInput()
// == CoroutinesTracing/Tracing.swift
func work() throws {}
// == CoroutinesTesting/Exploring/Explore.swift
import Testing
final class Account {
  var balance = 0
  func deposit(_ amount: Int) throws { balance += amount }
}
// == CoroutinesTesting/Leaks/LeakCheck.swift
struct Server {
  static func start() throws -> Server { Server() }
  func answer(_ request: String) throws {}
  func stop() throws {}
}
let request = ""
// == CoroutinesTesting/Racing/Race.swift
import Testing
// == CoroutinesTesting/Checking/Linearizability.swift
struct Flag: SequentialSpecification {
  enum Operation { case pass, open }
  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<String>] { [] }
}
final class Gate {
  func pass() throws {}
  func open() {}
}
// == CoroutinesTesting/Sequencer.swift
func log(_ text: String) {}
// == CoroutinesTesting/Exploring/Sweeps.swift 1
import Testing
// == CoroutinesTesting/Exploring/Sweeps.swift 2
import Testing
// == CoroutinesTesting/Exploring/Sweeps.swift 3
import Testing
var kept: [Int] = [], done: [Int] = []
// == CoroutinesTesting/Time/TestClock.swift
struct Poller {
  let clock: any Clock<Duration>
  func run() throws {}
}
// == CoroutinesTesting/Scheduling/TestScheduler.swift
import Testing
// == Coroutines/Interop/AwaitCallback.swift
func download(_ url: URL, _ answer: @escaping @Sendable (Data?, (any Error)?) -> Void) {}
let url = URL(fileURLWithPath: "/")
// == Coroutines/Interop/AwaitTask.swift
let url = URL(fileURLWithPath: "/")
// == Coroutines/Channels/Channel.swift
let source = [""]
// == Coroutines/Channels/Channel+Send.swift
struct Connection { func disconnect() {} }
let idle = Channel<Connection>(), connection = Connection()
// == Coroutines/Synchronization/CoroutineBarrier.swift
struct Part { func compute() throws -> Bool { false } }
let parts = [Part()]
// == Coroutines/Synchronization/CoroutineCondition.swift
var items = [0]
let item = 0
func take(_ item: Int) {}
// == Coroutines/Synchronization/CoroutineMutex.swift
struct Account {
  func read() throws -> Int { 0 }
  func write(_ balance: Int) throws {}
}
let account = Account()
// == Coroutines/Synchronization/CoroutineOnce.swift
struct Connection { static func open(_ host: String) throws -> Connection { Connection() } }
let host = ""
// == Coroutines/Synchronization/CoroutineReadWriteLock.swift
struct Table {
  func find(_ address: String) throws -> String { address }
  func replace(with routes: [String]) throws {}
}
let table = Table(), address = "", newRoutes = [""]
// == Coroutines/Scopes/CoroutineScope.swift
func count(_ file: String) throws -> Int { 0 }
// == Coroutines/Synchronization/CoroutineSemaphore.swift
func fetch(_ url: String) throws {}
let urls = [""]
// == Coroutines/Synchronization/CoroutineWaitGroup.swift
func fetch(_ url: String) throws {}
let urls = [""]
// == Coroutines/Interop/Generator+Callbacks.swift 1
struct Words {
  func enumerate(_ visit: (_ name: String, _ stop: inout Bool) -> Void) {}
}
let dictionary = Words()
// == Coroutines/Interop/Generator+Callbacks.swift 2
struct Reading: Sendable {}
struct Sensor: Sendable {
  func observe(_ observer: @escaping @Sendable (Reading) -> Void) -> Int { 0 }
  func remove(_ observer: Int) {}
}
let sensor = Sensor()
// == Coroutines/Actors/Mailbox.swift
let mailbox = unmade(Mailbox<String>.self)
// == Coroutines/Actors/MessageActor+Messages.swift
enum Account { case balance(Reply<Int>) }
let account = MessageActor<Account> { _ in }
// == Coroutines/Interop/Offload.swift
let path = ""
// == Coroutines/Scheduling/PoolScheduler.swift 2
func read(into lines: Channel<String>) throws {}
func parse(_ line: String) {}
let pool = PoolScheduler()
// == Coroutines/Scheduling/PoolScheduler.swift 1
func checksum(_ page: String) -> Int { 0 }
let pages = [""]
// == Coroutines/Promises/ProgressMeter.swift
func copyOne(_ file: String) throws {}
let files = [""]
// == Coroutines/Promises/ProgressPromise.swift
struct Connection { func read() throws -> Data? { nil } }
struct Bar { func draw(_ fraction: Double) {} }
let connection = Connection(), bar = Bar(), length = 1
// == Coroutines/Promises/Promise.swift
func download(_ url: URL, _ answer: @escaping @Sendable (Data?, (any Error)?) -> Void) {}
let url = URL(fileURLWithPath: "/")
// == Coroutines/Interop/Promise+Delegate.swift
struct Picture: Sendable {}
protocol PickerDelegate: AnyObject, Sendable {}
final class Picker {
  weak var delegate: (any PickerDelegate)?
  func show() {}
}
let picker = Picker()
// == Coroutines/Actors/Reply.swift
let account = MessageActor<Account> { _ in }
// == Coroutines/Select/Select.swift
let results = Channel<Int>(), jobs = Channel<Int>(), job = 1
var count = 0
func show(_ result: Int) {}
// == Coroutines/Scheduling/SerialScheduler.swift
@Sendable func read(_ file: String) throws -> String { "" }
// == Coroutines/Supervision/Supervisor.swift
func serve(_ mailbox: Mailbox<Int>) throws {}
func poll(into pool: MessageActor<Int>) throws {}
func listen(_ pool: MessageActor<Int>) throws {}
// == file: Coroutines/Promises/Thenable.swift
final class OtherFuture<Value: Sendable>: Sendable {
  func onValue(_ handler: @escaping @Sendable (Value) -> Void) {}
  func onError(_ handler: @escaping @Sendable (any Error) -> Void) {}
}
func makeFuture(for number: Int) -> OtherFuture<Int> { OtherFuture() }
let future = OtherFuture<Int>(), promise = Promise<Int>()
// == coswift/Promises/COProgressPromise.swift
let download = COProgressPromise<Data>()
// == Coroutines/Select/Selector.swift
struct Reading {}
let sensors: [Channel<Reading>] = []
func show(_ reading: Reading) {}
