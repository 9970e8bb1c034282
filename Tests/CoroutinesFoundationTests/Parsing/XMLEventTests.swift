// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Dispatch
import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite(.timeLimit(.minutes(30))) struct XMLEventTests {
  private func names(_ events: Generator<XMLEvent>) -> [String] {
    events.compactMap { event in
      if case .startElement(let name, _, _, _) = event { name } else { nil }
    }
  }

  /// A document with so many items.
  private func document(_ count: Int) -> Data {
    Data("<list>\((0..<count).map { "<item n=\"\($0)\"/>" }.joined())</list>".utf8)
  }

  @Test func `a document becomes its events, in order`() {
    let data = Data("<?xml version=\"1.0\"?><a x=\"1\"><!--c--><b>t</b><?p q?></a>".utf8)
    #expect(
      Array(XMLParser.co.events(of: data)) == [
        .startDocument,
        .startElement(name: "a", attributes: ["x": "1"]),
        .comment("c"),
        .startElement(name: "b"),
        .characters("t"),
        .endElement(name: "b"),
        .processingInstruction(target: "p", data: "q"),
        .endElement(name: "a"),
        .endDocument,
      ]
    )
  }

  @Test func `blocks that are not markup come as they are`() {
    let events = Array(XMLParser.co.events(of: Data("<a><![CDATA[<&>]]></a>".utf8)))
    #expect(events.contains(.cdata(Data("<&>".utf8))) || events.contains(.characters("<&>")))
  }

  @Test func `namespaces are told if they are processed`() {
    let data = Data("<p:a xmlns:p=\"urn:x\"/>".utf8)
    let plain = Array(XMLParser.co.events(of: data))
    #expect(plain.contains { if case .startElement("p:a", _, _, _) = $0 { true } else { false } })
    let events = Array(XMLParser.co.events(of: data, processesNamespaces: true))
    #expect(
      events.contains {
        if case .startElement("a", "urn:x", "p:a", _) = $0 { true } else { false }
      }
    )
    #expect(events.contains(.startMapping(prefix: "p", namespace: "urn:x")))
    #expect(events.contains(.endMapping(prefix: "p")))
  }

  @Test func `a file, a stream and memory give the same, in coroutines and outside`() throws {
    let folder = try TemporaryFolder()
    let data = document(5000)
    try data.write(to: folder.file("a.xml"))
    let expected = Array(XMLParser.co.events(of: data))
    #expect(expected.count == 2 * 5000 + 4)
    let result = try inAndOut {
      [
        Array(XMLParser.co.events(of: data)) == expected,
        Array(XMLParser.co.events(contentsOf: folder.file("a.xml"))) == expected,
        Array(XMLParser.co.events(of: InputStream(data: data))) == expected,
      ]
    }
    #expect(result == [true, true, true])
  }

  @Test func `others run while a file is parsed`() throws {
    let folder = try TemporaryFolder()
    try document(5000).write(to: folder.file("a.xml"))
    try #expect(
      othersRun {
        for _ in XMLParser.co.events(contentsOf: folder.file("a.xml")) {}
      }
    )
  }

  @Test func `the document is read no further than its events are wanted`() throws {
    final class Meter: InputStream {
      var bytes = 0
      override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = super.read(buffer, maxLength: length)
        bytes += max(count, 0)
        return count
      }
    }
    let data = document(20_000)
    let stream = Meter(data: data)
    let events = XMLParser.co.events(of: stream)
    #expect(stream.bytes == 0)
    for event in events {
      if case .startElement("item", _, _, ["n": "1000"]) = event { break }
    }
    #expect(stream.bytes > 0)
    #expect(stream.bytes < data.count / 4)
  }

  @Test func `leaving the loop stops the parser, and the generator then is empty`() {
    let events = XMLParser.co.events(of: document(1000))
    for _ in events.prefix(10) {}
    for _ in events { break }
    #expect(events.next() == nil)
  }

  @Test func `a fault is thrown after the events before it`() throws {
    let data = Data("<a><b/><c></d></a>".utf8)
    let events = XMLParser.co.events(of: data)
    var seen: [String] = []
    let error = #expect(throws: (any Error).self) {
      while let event = try events.nextOrThrow() {
        if case .startElement(let name, _, _, _) = event { seen.append(name) }
      }
    }
    #expect(seen == ["a", "b", "c"])
    #expect((error as NSError?)?.domain == XMLParser.errorDomain)

    let loop = XMLParser.co.events(of: data)
    #expect(names(loop) == ["a", "b", "c"])
    #expect((loop.error as NSError?)?.domain == XMLParser.errorDomain)
  }

  @Test func `a fault far into a document comes at its place`() throws {
    let good = (0..<3000).map { "<item n=\"\($0)\"/>" }.joined()
    let events = XMLParser.co.events(of: Data("<list>\(good)</tsil>".utf8))
    #expect(names(events).count == 3001)
    #expect(events.error != nil)
  }

  @Test(arguments: ["", "<a", "<a>", "plain text", "<a></b>"])
  func `what is no document ends with an error`(text: String) {
    let events = XMLParser.co.events(of: Data(text.utf8))
    for _ in events {}
    #expect((events.error as NSError?)?.domain == XMLParser.errorDomain)
  }

  @Test func `a file that is missing is an error at the first event`() throws {
    let folder = try TemporaryFolder()
    let work = {
      let events = XMLParser.co.events(contentsOf: folder.file("z"))
      #expect(throws: CocoaError.self) { try events.nextOrThrow() }
    }
    work()
    try runBlocking(work)
  }

  @Test func `documents parsed in turns on one thread keep their own errors`() throws {
    let good = XMLParser.co.events(of: document(2000))
    let bad = XMLParser.co.events(
      of: Data("<list>\(String(repeating: "<x/>", count: 3000))</b>".utf8)
    )
    var counts = (good: 0, bad: 0)
    while true {
      let (one, other) = (good.next(), bad.next())
      if one != nil { counts.good += 1 }
      if other != nil { counts.bad += 1 }
      if one == nil, other == nil { break }
    }
    #expect(good.error == nil)
    #expect(counts.good == 2 * 2000 + 4)
    #expect((bad.error as NSError?)?.domain == XMLParser.errorDomain)
    #expect(counts.bad == 2 * 3000 + 2)
  }

  @Test func `an external entity is not loaded, also while others parse`() throws {
    let folder = try TemporaryFolder()
    let secret = try folder.write("secret", to: "secret")
    let text = """
      <!DOCTYPE a [<!ENTITY e SYSTEM "\(secret.absoluteString)">]>
      <a>\(String(repeating: "<x/>", count: 3000))&e;</a>
      """
    let events = XMLParser.co.events(of: Data(text.utf8))
    var seen: [XMLEvent] = []
    while let event = events.next() {
      seen.append(event)
      if seen.count % 100 == 0 { for _ in XMLParser.co.events(of: document(1)) {} }
    }
    #expect(!seen.contains(.characters("secret")))
    #expect(seen.count > 6000)
  }

  @Test func `a parse on a dispatch queue goes on across threads`() throws {
    let folder = try TemporaryFolder()
    try document(3000).write(to: folder.file("a.xml"))
    try runBlocking {
      let parses = (0..<4).map { _ in
        launch(on: DispatchQueue(label: "parse")) {
          XMLParser.co.events(contentsOf: folder.file("a.xml")).reduce(0) { count, _ in count + 1 }
        }
      }
      for parse in parses { try #expect(parse.value() == 2 * 3000 + 4) }
    }
  }

  enum Source: CaseIterable, Sendable { case file, memory, stream }

  @Test(arguments: Source.allCases)
  func `cancelling the coroutine that reads stops the parser (rule 2, 3.5-c1)`(
    _ source: Source
  ) throws {
    let folder = try TemporaryFolder()
    let data = document(50_000)
    try data.write(to: folder.file("a.xml"))
    try runBlocking {
      let reader = launch {
        let events =
          switch source {
          case .file: XMLParser.co.events(contentsOf: folder.file("a.xml"))
          case .memory: XMLParser.co.events(of: data)
          case .stream: XMLParser.co.events(of: InputStream(data: data))
          }
        var count = 0
        for _ in events {
          Coroutine.current?.cancel()
          count += 1
        }
        #expect(events.error is CancellationError)
        return count
      }
      // What had been read and parsed may still come: some thousands of a hundred thousand.
      try #expect(reader.value() < 20_000)
    }
  }

  /// In a process of its own, because the threads of the pool are counted.
  @Test func `documents that are parsed half need no thread of the pool (3.5-c2)`() async {
    await #expect(processExitsWith: .success) {
      func parse() throws {
        let data = Data("<list>\(String(repeating: "<item/>", count: 5000))</list>".utf8)
        try runBlocking {
          let documents = (0..<100).map { _ in XMLParser.co.events(of: data) }
          for _ in 0..<1000 {
            for events in documents { #expect(events.next() != nil) }
          }
          #expect(OffloadPool.shared.threadCount == 0)
          for events in documents {
            #expect(events.reduce(1000) { count, _ in count + 1 } == 10_004)
          }
        }
      }
      try parse()
    }
  }
}
