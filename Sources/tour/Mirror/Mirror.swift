// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import Glibc
import HTTPServer

/// `tour mirror`, from the command line to the exit status.
enum Mirror {
  /// Why it cannot begin.
  private struct Unusable: Error {
    let message: String
    let status: Tour.Status
  }

  /// Runs with the arguments that follow `mirror`.
  static func run(_ arguments: [[UInt8]]) -> Tour.Status {
    do {
      let options = try MirrorOptions(arguments)
      if options.wantsHelp {
        return Output.write(MirrorOptions.help, to: 1) ? .done : .cannotWrite
      }
      let report = try TraceFile.recording(to: options.trace, "tour mirror") {
        try runBlocking { try mirror(options) }
      }
      guard Output.write(options.isJSON ? report.json : report.text, to: 1) else {
        return complain("cannot write the report: \(Problem.text(errno))", .cannotWrite)
      }
      if report.isInterrupted { return .interrupted }
      return report.isComplete ? .done : .incomplete
    } catch let error as Options.UsageError {
      return complain("\(error.message)\nTry “tour mirror --help”.", .badUsage)
    } catch let error as Unusable {
      return complain(error.message, error.status)
    } catch let error as TraceFile.Unwritable {
      return complain(error.message, .cannotCreate)
    } catch let error as Mirroring.NoPage {
      return complain(error.message, .unavailable)
    } catch {
      return complain("\(error)", .bug)
    }
  }

  /// Serves, if the source is here, and fetches.
  private static func mirror(_ options: MirrorOptions) throws -> MirrorReport {
    let interrupts = InterruptSource()
    let progress = Progress(isQuiet: options.isQuiet)
    switch options.source {
    case .address(let text):
      guard let url = URL(string: text), url.host != nil else {
        throw Unusable(message: "\(BytePath(text)): not an address", status: .badUsage)
      }
      let mirroring = Mirroring(options, url, named: "\(BytePath(text))", progress)
      return try run(mirroring, interrupts.channel)
    case .directory(let path):
      return try serve(try gallery(of: path), options) { url in
        let mirroring = Mirroring(options, url, named: "\(path)", progress)
        return try run(mirroring, interrupts.channel)
      }
    case .drawn:
      let gallery = Gallery(pictures: options.pictures, side: options.width)
      return try serve(gallery, options) { url in
        let name = options.pictures.of("picture drawn here", "pictures drawn here")
        let mirroring = Mirroring(options, url, named: name, progress)
        return try run(mirroring, interrupts.channel)
      }
    }
  }

  /// Runs `body` while a gallery is served.
  private static func serve(
    _ gallery: Gallery,
    _ options: MirrorOptions,
    _ body: (URL) throws -> MirrorReport
  ) throws -> MirrorReport {
    let gallery = try GalleryServer(gallery, hasFaults: options.hasFaults)
    guard let url = URL(string: gallery.address) else {
      throw Unusable(message: "\(gallery.address): not an address", status: .bug)
    }
    return try withCoroutineScope { scope in
      scope.launch(name: "server") { try gallery.server.run() }
      let report = try body(url)
      try gallery.server.stop(within: .milliseconds(200))
      return report
    }
  }

  /// Mirrors until it is done or Ctrl-C is pressed.
  private static func run(
    _ mirroring: Mirroring,
    _ interrupts: Channel<Interrupt>
  ) throws -> MirrorReport {
    try makeOutput(mirroring.report.output)
    let end = Channel<Void>(capacity: 1)
    do {
      try withCoroutineScope { scope in
        scope.launch(name: "mirror") {
          try mirroring.run()
          end.sendIfReady(())
        }
        try select {
          Receive(from: end) {}
          Receive(from: interrupts) { throw $0 }
        }
      }
    } catch is Interrupt {
      // All workers have stopped, and taken away what was not complete.
      var report = mirroring.report
      report.isInterrupted = true
      return report
    }
    return mirroring.report
  }

  private static func gallery(of path: BytePath) throws -> Gallery {
    do {
      return try offload { try Gallery(directory: path) }
    } catch let problem as Problem {
      throw Unusable(message: "\(path): \(problem.reason)", status: .noInput)
    }
  }

  /// Makes the directory, and those that it is in.
  private static func makeOutput(_ path: BytePath) throws {
    for end in path.bytes.indices.dropFirst() where path.bytes[end] == UInt8(ascii: "/") {
      _ = BytePath(Array(path.bytes[..<end])).withCString { mkdir($0, 0o777) }
    }
    var status = stat()
    let result = path.withCString { mkdir($0, 0o777) }
    let code = errno
    guard result == 0 || path.withCString({ stat($0, &status) }) == 0 else {
      throw Unusable(message: "\(path): \(Problem.text(code))", status: .cannotCreate)
    }
    guard result == 0 || status.st_mode & S_IFMT == S_IFDIR else {
      throw Unusable(message: "\(path): \(Problem.text(ENOTDIR))", status: .cannotCreate)
    }
    guard path.withCString({ access($0, W_OK | X_OK) }) == 0 else {
      throw Unusable(message: "\(path): \(Problem.text(errno))", status: .cannotCreate)
    }
  }

  private static func complain(_ message: String, _ status: Tour.Status) -> Tour.Status {
    _ = Output.write("tour: \(message)\n", to: 2)
    return status
  }
}
