// SPDX-License-Identifier: Apache-2.0

/// Messages that no program can bring about here, by a piece of each, and why.
let exceptions: [String: String] = [
  "This version of Dispatch does not show": "another version of Dispatch",
  "is not to be had": "depends on the system; IOBackendTests",
  "a switch to a flow of control that has finished": "a fault of the library itself",
  "holds nothing to go on with": "a fault of the library itself",
  "only pools are offered coroutines": "a fault of the library itself",
  "SchedulerCore is abstract": "a fault of the library itself",
  "TurnCore is abstract": "a fault of the library itself",
  "runBlocking lost its coroutine": "a fault of the library itself",
  "a test lost its coroutine": "a fault of the library itself",
  "a generator lost its stack": "a fault of the library itself",
  "is in no list of the scope that waits for it": "a fault of the library itself",
  "has finished with neither a value nor an error": "a fault of the library itself",
  "a clause that is not there cannot win": "a fault of the library itself",
  "a race has neither a winner nor an error": "a fault of the library itself",
  "an array was made without its body": "a fault of the library itself",
  "an exhaustive search is no sample": "a fault of the library itself",
  "a promise was awaited and is pending": "a fault of the library itself",
  "The system has no thread left for a run of a Race": "no threads",
  "No thread can go on": "builds with CheckedPrimitives; RaceExplorerTests",
  "The threads have not ended after": "builds with CheckedPrimitives; RaceExplorerTests",
  "one may poll for what another does": "builds with CheckedPrimitives; RaceExplorerTests",
  "waitInRace was called outside a Race": "builds with CheckedPrimitives",
  "leaves out orders that are like others": "builds with CheckedPrimitives",
  "it works with .exhaustive() without a bound": "builds with CheckedPrimitives",
  "swift-coroutines must learn its layout": "another version of Dispatch",
  "a call that parks": "for a wait that does not say what it waits for; there is none",
  "no call (it has been started by another one)": "a launch with .immediately in an explored body",
  "Too many restarts.": "to compare with, never thrown",
  "A child's error was escalated.": "to compare with, never thrown",
  "A child did not stop.": "to compare with, never thrown",
  "A child returned.": "to compare with, never thrown",
  "The coroutine that locked it": "to compare with, never thrown",
  "This URLSession reports on the main queue": "a main thread of one's own",
  "serving that queue. Call this in a coroutine": "a main thread of one's own",
  "or use a session with another queue": "a main thread of one's own",
  "and no thread of the process is left that": deadlocked,
  "Below is what each of them waits for": deadlocked,
  "that nobody sends to or closes, a promise that nobody settles": deadlocked,
  "swift-coroutines: watchdog:": "takes its time; CoroutineWatchdogTests",
  "An alert was asked for": "UIKit",
]

/// The testing library uses Dispatch, so in its processes a deadlock is never certain.
private let deadlocked = "scripts/check-small-examples: dining-philosophers --deadlock"

/// Types that can be thrown and have no message of their own, and why.
let silentErrors: [String: String] = [
  "GeneratorReturn": "passes through a generator's body, and is caught by the library",
  "AlertError": "UIKit",
]
