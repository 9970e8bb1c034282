// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

func shell(_ script: String) -> Process {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", script]
  return process
}

try runBlocking {
  let sorted = try shell("sort").co.run(input: Data("pear\napple\n".utf8))
  print(sorted.text.split(separator: "\n"))  // prints ["apple", "pear"]
  print(sorted.termination)  // prints exited with status 0

  let running = try shell("echo one; echo oops >&2; echo two; kill -9 $$").co.start()
  for line in running.outputLines { print(line) }  // prints one, then two
  for line in running.errorLines { print(line) }  // prints oops
  print(try running.termination())  // prints ended by signal 9

  do {
    try withTimeout(.milliseconds(50)) { _ = try shell("sleep 60").co.run() }
  } catch is TimeoutError { print("too long") }  // prints too long

  let pipe = Pipe()
  launch {
    try pipe.fileHandleForWriting.co.write(contentsOf: Data("a\nb\n".utf8))
    try pipe.fileHandleForWriting.close()
  }
  for line in pipe.fileHandleForReading.co.lines { print(line) }  // prints a, then b
}
