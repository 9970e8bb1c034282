// SPDX-License-Identifier: Apache-2.0

import Coroutines

let dumpMessages = Chapter(
  title: "Dumps",
  messages: [
    .thrown(
      "a dump that cannot be written",
      "was not written",
      at: "to /nowhere/dump.txt",
      do: "Name a file in a directory"
    ) { try CoroutineDump.take().write(to: "/nowhere/dump.txt") }
  ]
)
