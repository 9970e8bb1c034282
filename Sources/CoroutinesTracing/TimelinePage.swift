// SPDX-License-Identifier: Apache-2.0

import CCoroutinesTracing

extension Trace {
  /// The trace as a page: one HTML file that needs no network, no server and no other file.
  ///
  /// Lanes for loops and coroutines, arrows from sends to receives and from wakes to what they woke; zoom, search,
  /// statistics. Press `?` in it for its keys. A current browser shows some 100,000 events fluently.
  ///
  /// Takes time and memory in proportion to the number of events: some 30 bytes each, and 270 KB for the page.
  ///
  /// - Parameter title: What stands above it.
  /// - Returns: The file's text, in UTF-8.
  public func html(title: String = "Timeline") -> String {
    let data = TimelineData(self, TimelineBuilder.build(self)).json(title: title)
    return """
      <!doctype html>
      <!--
      A timeline of swift-coroutines. It contains D3:

      \(text(cct_license()))-->
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
      style-src 'unsafe-inline'; img-src data:">
      <link rel="icon" href="data:,">
      <title>Timeline</title>
      <style>
      \(text(cct_style()))</style>
      </head>
      <body>
      \(text(cct_body()))<script type="application/json" id="trace">\(data)</script>
      <script>
      \(text(cct_library()))</script>
      <script>
      \(text(cct_script()))</script>
      </body>
      </html>

      """
  }

  private func text(_ file: cct_file_t) -> String {
    // SAFETY: constants of the program, of so many bytes.
    String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
  }
}
