// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import tour

@Suite struct IndexPageTests {
  private func names(_ page: String, at base: String = "http://a.b/dir/index.html") throws
    -> [String]
  {
    let url = try #require(URL(string: base))
    return IndexPage.links(in: Array(page.utf8), at: url).map { "\($0.name)" }
  }

  @Test(arguments: [
    "<a href=\"x.png\">", "<A HREF='x.png'>", "<a class=y href = x.png >", "<a href=x.png>",
    "<a\nhref\n=\n\"./x.png\"\n>", "<a href=\"http://a.b/dir/x.png\">", "<a href=\"/dir/x.png\">",
    "<a href=\"x.png#top\">", "<a href=\"x&#46;png\"><a href=\"x.png\">",
    "<a href=\"../dir/x.png\">",
  ])
  func `a file beside the page is found, however it is written`(_ page: String) throws {
    #expect(try names(page).contains("x.png"))
  }

  @Test(arguments: [
    "http://other/dir/x.png", "https://a.b/dir/x.png", "http://a.b:81/dir/x.png", "../x.png",
    "sub/x.png", "sub/", "/", "?C=N;O=D", "x.png?y", "..", ".", ".bashrc", "./.ssh", "..%2fx",
    "%2e%2e", "%2Fetc%2Fpasswd", "a%00b", "index.html", "mailto:a@b", "javascript:x",
    "file:///etc/passwd",
    "#top", "", "http://user@a.b/dir/x.png", "%2e%2e%2fx",
  ])
  func `what is elsewhere, or would be something else here, is left out`(_ reference: String) throws
  {
    #expect(try names("<a href=\"\(reference)\">").isEmpty)
  }

  @Test func `each file is fetched once, in the order of the page`() throws {
    let page = "<a href=b><a href=a><a href=\"./b\"><a href=%62><a href=c></a>"
    #expect(try names(page) == ["b", "a", "c"])
  }

  @Test func `names are any bytes, and the own index page says them so that they come back`() throws
  {
    let tree = try MadeTree()
    let odd: [[UInt8]] = [
      Array("a b&c<d>\"'.png".utf8), Array("50%25 #1?x=y".utf8), [0xFF, 0xFE, 0x0A],
      Array("http:x".utf8), Array("ä→".utf8), Array("a+b;c,d".utf8),
    ]
    for name in odd { try tree.file(name, [1]) }
    try tree.file(".hidden", "x")
    try tree.directory("sub")
    try tree.link("link", to: "ä→")
    let page = try Gallery(directory: tree.root).indexPage
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let links = IndexPage.links(in: Array(page.utf8), at: url)
    #expect(Set(links.map(\.name.bytes)) == Set(odd))
  }

  @Test func `noise is no page and does no harm`() throws {
    var state: UInt64 = 7
    let url = try #require(URL(string: "http://a/"))
    let telling = Array("href=\"'> &;#%/.:?\n".utf8)
    for _ in 0..<500 {
      let page = (0..<200).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let byte = UInt8(truncatingIfNeeded: state >> 40)
        return byte < 128 ? telling[Int(byte) % telling.count] : byte
      }
      for link in IndexPage.links(in: page + Array("href=\"".utf8) + page, at: url) {
        #expect(!link.name.bytes.contains(UInt8(ascii: "/")))
      }
    }
  }

  @Test func `a digest is taken from its field, or from none`() {
    let digest = [UInt8](repeating: 7, count: 32)
    let text = Data(digest).base64EncodedString()
    #expect(ServerPromise.digest(in: "sha-256=:\(text):") == digest)
    #expect(ServerPromise.digest(in: "sha-512=:AAAA:, SHA-256=:\(text):") == digest)
    for field in ["", "sha-256", "sha-256=:AAAA:", "sha-256=\(text)", "sha-512=:\(text):"] {
      #expect(ServerPromise.digest(in: field) == nil)
    }
  }

  @Test func `delays grow to twice as long each time, and no further than the limit`() {
    var backOff = BackOff(first: .milliseconds(100), limit: .milliseconds(800))
    for ceiling in [100, 200, 400, 800, 800] {
      let delay = backOff.next()
      #expect(delay >= .milliseconds(ceiling / 2) && delay <= .milliseconds(ceiling))
    }
  }
}
