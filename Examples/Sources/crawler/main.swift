// SPDX-License-Identifier: Apache-2.0

// Shows: bounded concurrency, and how cancelling ends everything that was begun.
//
// Three workers fetch the pages of a site and add the links that they find; each page is fetched once. Everything runs
// on one thread, so the set of known pages needs no lock. The site is a small HTTP server in this program
// (Site.swift). The second crawl meets a page that never answers: a limit of time cancels the workers, wherever they
// wait, and their connections are closed.
//
// Output:
//
//   / links to 4 pages
//   /a links to 2 pages
//   /a/1 links to 1 page
//   /a/2 is missing
//   /b links to 2 pages
//   /c links to 1 page
//   /d links to 0 pages
//   7 pages, each fetched once, 3 at most at the same time
//   with a page that never answers: gave up, 0 fetches left

import Coroutines
import CoroutinesIO

/// A page: its links, or nil if it is missing.
typealias Page = (path: String, links: [String]?)

final class Crawler {
  private let site: SocketAddress
  private var known: Set<String> = []
  private(set) var pages: [Page] = []
  private(set) var fetching = 0
  private(set) var mostFetching = 0

  init(_ site: SocketAddress) { self.site = site }

  /// Fetches all pages that can be reached from `start`, with so many workers.
  func crawl(from start: String, workers: Int) throws {
    let queue = Channel<String>(capacity: .unbounded)
    let unfinished = CoroutineWaitGroup()

    func add(_ path: String) throws {
      guard known.insert(path).inserted else { return }
      unfinished.add()
      try queue.send(path)
    }

    try withCoroutineScope { scope in
      for number in 1...workers {
        scope.launch(name: "worker \(number)") {
          for path in queue {
            defer { unfinished.done() }
            let page = try self.fetch(path)
            self.pages.append(page)
            for link in page.links ?? [] { try add(link) }
          }
        }
      }
      try add(start)
      try unfinished.wait()
      queue.close()  // ends the workers
    }
  }

  private func fetch(_ path: String) throws -> Page {
    fetching += 1
    mostFetching = max(mostFetching, fetching)
    defer { fetching -= 1 }

    let stream = try ByteStream.connect(to: site)
    defer { stream.close() }
    try stream.write("GET \(path) HTTP/1.0\r\n\r\n")
    let text = String(decoding: try stream.readToEnd(limit: 100_000), as: UTF8.self)
    guard text.hasPrefix("HTTP/1.0 200") else { return (path, nil) }
    return (path, text.split(separator: "\"").filter { $0.hasPrefix("/") }.map(String.init))
  }
}

try runBlocking {
  let site = try Site([
    "/": ["/a", "/b", "/c", "/d"], "/a": ["/a/1", "/a/2"], "/a/1": ["/"], "/b": ["/a", "/c"],
    "/c": ["/"], "/d": [], "/trap": ["/a", "/slow"],
  ])
  launch(name: "site") { try site.serve() }
  defer { site.close() }

  let crawler = Crawler(site.address)
  try crawler.crawl(from: "/", workers: 3)
  for (path, links) in crawler.pages.sorted(by: { $0.path < $1.path }) {
    let count = links.map { "links to \($0.count) \($0.count == 1 ? "page" : "pages")" }
    print(path, count ?? "is missing")
  }
  let once = site.hits.values.allSatisfy { $0 == 1 } ? "once" : "more than once"
  print("\(site.hits.count) pages, each fetched \(once),", terminator: " ")
  print("\(crawler.mostFetching) at most at the same time")

  let second = Crawler(site.address)
  do {
    try withTimeout(.milliseconds(200)) { try second.crawl(from: "/trap", workers: 3) }
  } catch is TimeoutError {
    print("with a page that never answers: gave up, \(second.fetching) fetches left")
  }
}
