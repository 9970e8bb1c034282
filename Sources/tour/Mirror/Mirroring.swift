// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fetches a page and then the files that it links to, several at a time.
///
/// ```
///  page ──▶ links ──▶ worker 1 ┐
///                     worker 2 ├──▶ report, progress
///                     …        ┘
/// ```
final class Mirroring {
  /// The page cannot be had, so there is nothing to fetch.
  struct NoPage: Error {
    let message: String
  }

  /// What has been done so far.
  private(set) var report: MirrorReport

  private let options: MirrorOptions
  private let url: URL
  private let progress: Progress
  private let session: URLSession

  init(_ options: MirrorOptions, _ url: URL, named source: String, _ progress: Progress) {
    self.options = options
    self.url = url
    self.progress = progress
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    // The limits are this program's own.
    configuration.timeoutIntervalForRequest = 86_400
    configuration.httpMaximumConnectionsPerHost = options.jobs
    session = URLSession(configuration: configuration)
    report = MirrorReport(source: source, output: options.output, jobs: options.jobs)
  }

  deinit { session.invalidateAndCancel() }

  /// Does it all; parks meanwhile.
  ///
  /// - Throws: `NoPage`; `CancellationError`, and then there is nothing in the directory but whole files.
  func run() throws {
    let start = ContinuousClock.now
    defer {
      report.time = ContinuousClock.now - start
      report.sort()
    }
    let fetcher = Fetcher(
      session: session,
      retries: options.retries,
      timeout: options.timeout,
      patience: options.patience
    ) { [unowned self] name, failure, delay in
      report.retries[failure.kind, default: 0] += 1
      say("\(name): \(failure.reason); again in \(delay.inSeconds)")
    }
    let links: [Link]
    do {
      let page = try fetcher.page(url)
      links = IndexPage.links(in: page.bytes, at: page.url)
    } catch let failure as FetchFailure {
      throw NoPage(message: "\(url.absoluteString): \(failure.reason)")
    }
    report.expected = links.count
    try progress.show(.mirroring) { try fetch(links, with: fetcher) }
  }

  private func fetch(_ links: [Link], with fetcher: Fetcher) throws {
    let queue = Channel<Link>(capacity: .unbounded)
    for link in links { queue.sendIfReady(link) }
    queue.close()
    try withCoroutineScope { scope in
      for number in 1...options.jobs {
        scope.launch(name: "worker \(number)") {
          for link in queue { try self.fetch(link, with: fetcher) }
        }
      }
    }
  }

  private func fetch(_ link: Link, with fetcher: Fetcher) throws {
    do {
      let file = try fetcher.file(link, into: options.output) { progress.reading.bytes += $0 }
      report.files.append(file)
      let attempts = file.attempts == 1 ? "" : ", \(file.attempts.of("attempt"))"
      say("\(link.name): \(file.copy.bytes.asBytes)\(attempts)")
    } catch let failure as FetchFailure {
      report.missing.append(MissingFile(name: link.name, failure: failure))
      say("\(link.name): given up: \(failure.reason)")
    }
    let done = report.files.count + report.missing.count
    progress.reading.finishFile(at: Double(done) / Double(report.expected))
  }

  /// A line of progress where there can be no bar.
  private func say(_ line: String) {
    if !options.isQuiet, !progress.hasBar { _ = Output.write("\(line)\n", to: 2) }
  }
}
