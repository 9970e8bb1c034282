// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

try runBlocking {
  let sorted = try ChildProcess.run("sort", input: "pear\napple\n".utf8)
  print(sorted.exit, sorted.text.split(separator: "\n"))
  // prints exited with status 0 ["apple", "pear"]

  // A talk with a program that runs on.
  let child = try ChildProcess("cat", input: .pipe, output: .pipe)
  if let input = child.input, let output = child.output {
    let reader = BufferedReader(output)
    try input.write("one\n")
    print(try reader.readLine() ?? "nothing")  // prints one
  }

  // Whatever comes first: the end, a signal to this process, or nothing for a while.
  let signals = try SignalChannel(for: .interrupt, .terminate)
  let reason = try select {
    Receive(from: child.exits) { "it \($0)" }
    Receive(from: signals.received) { "because of \($0)" }
    After(.milliseconds(20)) { "it runs" }
  }
  print(reason)  // prints it runs
  try child.signal(.terminate)
  print(try child.exit())  // prints ended by SIGTERM

  // A limit ends the program, and what it has started.
  do {
    try withTimeout(.milliseconds(20)) { _ = try ChildProcess.run("sleep", ["60"]) }
  } catch is TimeoutError { print("too long") }  // prints too long
}
