// SPDX-License-Identifier: Apache-2.0

import Glibc

// `CommandLine.arguments` would mend names that are not UTF-8.
let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
  CommandLine.unsafeArgv[index].map { argument in
    Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
  }
}
exit(Tour.run(arguments).rawValue)
