// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Foundation
import Testing

/// Messages do not depend on sanitizers; what provokes them does.
@Suite(.timeLimit(.minutes(30)), .enabled(if: cck_is_instrumented() == 0 && isPlainBuild))
struct ErrorCatalogueTests {
  private static let all = catalogue.flatMap(\.messages)

  @Test func `each message has a title of its own`() {
    #expect(Set(Self.all.map(\.title)).count == Self.all.count)
  }

  @Test(arguments: Self.all.map(\.title))
  func `a message says what happened, to what or where, and what to do (rule 12)`(
    _ title: String
  ) async throws {
    let message = try #require(Self.all.first { $0.title == title })
    let provocation = try #require(await Provocations.shared.byTitle()[title])
    let text = try #require(provocation.text, "it did not come\n\(provocation.output)")
    #expect(text.contains(message.what), "what happened")
    #expect(text.contains(message.place), "to what, or where")
    #expect(text.contains(message.remedy), "what to do")
  }

  @Test func `the document says what was provoked`() async throws {
    let texts = await Provocations.shared.byTitle().compactMapValues(\.text)
    let page = CatalogueDocument.render(texts.mapValues { CatalogueDocument.normalise($0) })
    if ProcessInfo.processInfo.environment["COROUTINES_UPDATE_ERRORS"] != nil {
      try page.write(to: CatalogueDocument.file, atomically: true, encoding: .utf8)
    }
    let committed = try String(contentsOf: CatalogueDocument.file, encoding: .utf8)
    let change = page.split(separator: "\n").difference(from: committed.split(separator: "\n"))
    #expect(change.isEmpty, "run with COROUTINES_UPDATE_ERRORS=1 and look at the difference")
  }

  @Test func `each message in the sources is in the catalogue`() async throws {
    let texts = await Provocations.shared.byTitle().values.compactMap(\.text)
    let fragments = try SourceTree.fragments()
    #expect(fragments.count > 200)
    for fragment in fragments.sorted(by: { ($0.file, $0.text) < ($1.file, $1.text) })
    where !texts.contains(where: { $0.contains(fragment.text) }) {
      let isExcepted = exceptions.keys.contains {
        fragment.text.contains($0) || $0.contains(fragment.text)
      }
      #expect(isExcepted, "\(fragment.file): provoke \"\(fragment.text)\" in the catalogue")
    }
  }

  @Test func `each exception stands for a message that is in the sources`() throws {
    let fragments = try SourceTree.fragments()
    for exception in exceptions.keys {
      #expect(
        fragments.contains { $0.text.contains(exception) || exception.contains($0.text) },
        "\(exception)"
      )
    }
  }

  @Test func `each type of error is in the catalogue`() async throws {
    let thrown = await Provocations.shared.byTitle().values.compactMap(\.type)
    let types = try SourceTree.errorTypes()
    #expect(types.count > 15)
    let missing = types.subtracting(thrown).subtracting(silentErrors.keys)
    #expect(missing.isEmpty)
  }
}
