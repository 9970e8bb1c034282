// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let foundationMessages = Chapter(
  title: "Foundation",
  messages: [
    .stop(
      "a read of no bytes of a file handle",
      "it must be",
      at: "read(upToCount: 0)",
      do: "more than 0"
    ) {
      try runBlocking { _ = try FileHandle.nullDevice.co.read(upToCount: 0) }
    },
    .stop("a body without room", "it must be", at: "stream(for:bufferSize: 0)", do: "more than 0") {
      guard let url = URL(string: "http://127.0.0.1:1/") else { return }
      try runBlocking { _ = try URLSession.shared.co.stream(from: url, bufferSize: 0) }
    },
    .stop("ticks without end", "it must be", at: "ticks(every: 0.0 seconds)", do: "more than 0") {
      _ = Timer.co.ticks(every: .zero)
    },
    .stop(
      "a progress of no units",
      "it must be",
      at: "ProgressPromise.progress(totalUnitCount: 0)",
      do: "more than 0"
    ) {
      _ = ProgressPromise<Int>().progress(totalUnitCount: 0)
    },
  ]
)
