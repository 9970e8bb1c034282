// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

let feed = """
  <feed><entry title="one"/><entry title="two"/><entry title="three"></feed>
  """
let events = XMLParser.co.events(of: Data(feed.utf8))
do {
  while let event = try events.nextOrThrow() {
    if case .startElement("entry", _, _, let attributes) = event {
      print(attributes["title"] ?? "?")  // prints one, then two, then three
    }
  }
} catch {
  print("the document is broken")  // prints the document is broken
}
