// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
public import Coroutines

/// A program that this process has started.
///
/// ```swift
/// let sort = try ChildProcess("sort", input: .pipe, output: .pipe)
/// try sort.input?.write("pear\napple\n")
/// sort.input?.close()
/// if let output = sort.output { print(String(decoding: try output.readToEnd(), as: UTF8.self)) }
/// print(try sort.exit())
/// ```
///
/// It gets the three standard streams and no other descriptor that this library has opened; no signal is blocked
/// in it. It is collected when it has ended, whether anybody waits or not. Dropping the handle changes nothing: it
/// runs on. `run` is for a program whose output is wanted as a whole, and ends it when it is cancelled.
///
/// The end is noticed by a descriptor of the process (a pidfd); where there is none, by a thread that waits.
public final class ChildProcess: Sendable {
  let life: ChildLife

  /// Its standard input, if it is a pipe; `close` it when there is no more.
  public let input: ByteStream?
  /// Its standard output, if it is a pipe.
  public let output: ByteStream?
  /// Its standard error, if it is a pipe.
  public let errors: ByteStream?

  /// What a standard stream of a child is.
  public enum Stream: Hashable, Sendable {
    /// This process's own.
    case inherited
    /// Nothing to be read; what is written is dropped.
    case nothing
    /// A pipe, whose other end this process has.
    case pipe
    /// For standard error: the same as standard output.
    case output
  }

  /// Starts a program.
  ///
  /// Does not park; the thread waits for the system to start the program, a fraction of a millisecond.
  ///
  /// - Parameters:
  ///   - program: A path, or a name that is looked for in this process's `PATH`. A path that does not begin with a
  ///     slash begins in `directory`.
  ///   - arguments: Without the program's name.
  ///   - environment: All of it; nil for this process's own.
  ///   - directory: Where it runs; nil for this process's own.
  ///   - input: Its standard input.
  ///   - output: Its standard output.
  ///   - errors: Its standard error.
  ///   - leadsGroup: It gets a process group of its own, so that `run` and `supervise` can end what it has started,
  ///     too. It gets no signals of the terminal's keys then, and must not read from the terminal.
  /// - Throws: `IOError` with the program: `ENOENT` if there is none (or no such directory), `EACCES`, `EMFILE`;
  ///   `EINVAL` for a text with a zero byte.
  public init(
    _ program: String,
    _ arguments: [String] = [],
    environment: [String: String]? = nil,
    directory: String? = nil,
    input: Stream = .nothing,
    output: Stream = .inherited,
    errors: Stream = .inherited,
    leadsGroup: Bool = true
  ) throws {
    var pipes = ChildPipes()
    defer { pipes.closeTheirs() }
    do {
      self.input = try pipes.connect(0, input)
      self.output = try pipes.connect(1, output)
      self.errors = try pipes.connect(2, errors)
    } catch let error as IOError {
      throw IOError(code: error.code, operation: "starting", subject: program)
    }
    let variables = environment?.map { "\($0.key)=\($0.value)" }
    let texts = [program, directory ?? ""] + arguments + (variables ?? [])
    if texts.contains(where: { $0.utf8.contains(0) }) {
      throw IOError(code: cio_invalid, operation: "starting", subject: program)
    }
    let result = withCStrings([program] + arguments) { arguments in
      withCStrings(variables ?? []) { variables in
        program.withCString { program in
          func start(_ directory: UnsafePointer<CChar>?) -> Int {
            var spawn = cio_spawn_t(
              program: program,
              arguments: arguments,
              environment: environment == nil ? nil : variables,
              directory: directory,
              streams: pipes.theirs,
              leads_group: leadsGroup ? 1 : 0
            )
            return cio_spawn(&spawn)
          }
          return directory.map { $0.withCString { start($0) } } ?? start(nil)
        }
      }
    }
    let identifier = Int32(try IOError.check(result, "starting", program))
    life = ChildLife(identifier, program, leadsGroup: leadsGroup)
    life.watch()
  }

  /// Its number; it may be another process's once this one has ended.
  public var identifier: Int32 { life.identifier }

  /// It has not ended.
  public var isRunning: Bool { life.end.isPending }

  // MARK: - Its end

  /// Parks until it has ended.
  ///
  /// Any number of coroutines may wait. What it has written may still be in the pipes, and what it has started may
  /// still write.
  ///
  /// *Cancellation:* ends the wait; the process runs on. `supervise` ends it then.
  ///
  /// - Returns: How it ended.
  /// - Throws: `IOError` with `ECHILD` if somebody else has collected it; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func exit() throws -> ChildExit { try life.end.await() }

  /// How it ended, as a channel for a `select`.
  ///
  /// It gets one value, which goes to one receiver, and is closed then.
  public var exits: ReceiveEnd<ChildExit> { life.exits.receiveEnd }

  /// Parks until it has ended, and sees to it that it ends when the caller is cancelled.
  ///
  /// *Cancellation:* sends `SIGTERM` to it and, if it leads a group, to what it has started; after the grace
  /// `SIGKILL` to those that are left; and throws when it has ended.
  ///
  /// - Parameter grace: How long they have to end after `SIGTERM`.
  /// - Returns: How it ended.
  /// - Throws: As `exit`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func supervise(grace: Duration = .seconds(2)) throws -> ChildExit {
    try life.supervise(grace: grace) { try life.end.await() }
  }

  /// Sends it a signal.
  ///
  /// - Parameter signal: Which.
  /// - Returns: False if it has ended.
  /// - Throws: `IOError`, with `EPERM` if it has become another user's.
  @discardableResult
  public func signal(_ signal: Signal) throws -> Bool { try life.signal(signal) }

  // MARK: - Running to the end

  /// Runs a program and collects what it writes; parks until it has ended.
  ///
  /// ```swift
  /// let sorted = try ChildProcess.run("sort", input: "b\na\n".utf8)
  /// print(sorted.exit, sorted.text)
  /// ```
  ///
  /// Both streams are read while it runs, and the input is written meanwhile, so no amount of either makes it
  /// stick. It returns when the program has ended and nobody holds its output open any more: one that it has
  /// left in the background may. A status other than 0 is no error, nor is input that it does not read.
  ///
  /// *Cancellation:* ends the program and what it has started, as `supervise` does.
  ///
  /// - Parameters:
  ///   - program: As for `init`.
  ///   - arguments: Without the program's name.
  ///   - environment: All of it; nil for this process's own.
  ///   - directory: Where it runs; nil for this process's own.
  ///   - input: What it reads from its standard input.
  ///   - limit: Most bytes to keep of each stream: with more, the program is ended, and the error is an `IOError`
  ///     with `EMSGSIZE`.
  ///   - grace: How long it has to end after `SIGTERM`.
  /// - Returns: How it ended, and what it wrote.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func run(
    _ program: String,
    _ arguments: [String] = [],
    environment: [String: String]? = nil,
    directory: String? = nil,
    input: some Sequence<UInt8> = EmptyCollection<UInt8>(),
    limit: Int = 1 << 26,
    grace: Duration = .seconds(2)
  ) throws -> ChildOutput {
    try Coroutine.checkCancellation()
    let input = Array(input)
    return try withCoroutineScope { scope in
      let child = try ChildProcess(
        program,
        arguments,
        environment: environment,
        directory: directory,
        input: input.isEmpty ? .nothing : .pipe,
        output: .pipe,
        errors: .pipe
      )
      defer { for stream in [child.input, child.output, child.errors] { stream?.close() } }
      let output = scope.launch { try child.output?.readToEnd(limit: limit) ?? [] }
      let errors = scope.launch { try child.errors?.readToEnd(limit: limit) ?? [] }
      if let stream = child.input {
        scope.launch {
          defer { stream.close() }
          do { try stream.write(input) } catch let error as IOError
            where error.code == cio_broken_pipe
          {}
        }
      }
      // Here and not in a child, which would not begin if cancellation came before its turn.
      return try child.life.supervise(grace: grace) {
        ChildOutput(
          exit: try child.exit(),
          output: try output.value(),
          errors: try errors.value()
        )
      }
    }
  }
}

/// The child's ends of the pipes to it.
private struct ChildPipes {
  /// For the system: descriptors, or what else a stream is.
  var theirs: (Int32, Int32, Int32) = (-1, -1, -1)
  private var opened: [OwnedDescriptor] = []

  /// Returns our end, if it is to be a pipe.
  mutating func connect(_ number: Int, _ stream: ChildProcess.Stream) throws -> ByteStream? {
    var ours: ByteStream?
    let their: Int32
    switch stream {
    case .inherited: their = Int32(cio_stream_inherited)
    case .nothing: their = Int32(cio_stream_nothing)
    case .output: their = Int32(number == 2 ? cio_stream_output : cio_stream_inherited)
    case .pipe:
      let (reading, writing) = try ByteStream.pipe()
      let end = (number == 0 ? reading : writing).descriptor
      ours = number == 0 ? writing : reading
      opened.append(end)
      // Programs expect it; our end has flags of its own.
      try IOError.check(end.use { cio_set_blocking($0) }, "making a pipe")
      their = end.number
    }
    switch number {
    case 0: theirs.0 = their
    case 1: theirs.1 = their
    default: theirs.2 = their
    }
    return ours
  }

  /// Closes them here: the child has them.
  func closeTheirs() { for end in opened { end.close() } }
}

/// Calls `body` with texts as the system wants them, with a null pointer after the last.
private func withCStrings<Result>(
  _ texts: [String],
  _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
    capacity: texts.count + 1
  )
  for (index, text) in texts.enumerated() {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (place, byte) in bytes.enumerated() { (copy + place).initialize(to: byte) }
    (pointers + index).initialize(to: copy)
  }
  (pointers + texts.count).initialize(to: nil)
  defer {
    // SAFETY: made above, and nobody keeps them: the system has copied what the child needs.
    for index in 0..<texts.count { pointers[index]?.deallocate() }
    pointers.deallocate()
  }
  return body(pointers)
}
