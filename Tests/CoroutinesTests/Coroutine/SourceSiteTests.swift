// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct SourceSiteTests {
  @Test func `a place has the file and the line that it was made from`() {
    let site = SourceSite(file: "Module/Datei mit Umlaut ä.swift", line: 4711)
    #expect("\(site.file)" == "Module/Datei mit Umlaut ä.swift")
    #expect(site.file.hasPointerRepresentation)
    #expect(site.file.utf8CodeUnitCount == 32)
    #expect(site.line == 4711)
    #expect("\(site)" == "Module/Datei mit Umlaut ä.swift:4711")
  }

  @Test func `left out, it is where the call stands`() {
    let site = SourceSite()
    #expect("\(site)" == "CoroutinesTests/SourceSiteTests.swift:\(#line - 1)")
  }

  @Test func `a place takes two words`() {
    #expect(MemoryLayout<SourceSite>.size <= 2 * MemoryLayout<UInt64>.size)
  }
}
