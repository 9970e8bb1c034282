// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Glibc

/// The user has pressed Ctrl-C.
struct Interrupt: Error, Sendable {}

/// Turns Ctrl-C into a value in a channel, where `select` can wait for it together with other things.
final class InterruptSource {
  let channel = Channel<Interrupt>(capacity: 1)

  private let source: any DispatchSourceSignal

  init() {
    // The signal itself does nothing any more; the source still sees it.
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { [channel] in
      channel.sendIfReady(Interrupt())
      // Whoever presses twice does not want to wait for the summary.
      signal(SIGINT, SIG_DFL)
    }
    source.resume()
  }

  deinit {
    source.cancel()
  }
}
