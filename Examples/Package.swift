// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let coroutines: Target.Dependency = .product(name: "Coroutines", package: "swift-coroutines")
let blockingCalls: Target.Dependency =
  .product(name: "CoroutinesBlockingCalls", package: "swift-coroutines")
let testing: Target.Dependency = .product(name: "CoroutinesTesting", package: "swift-coroutines")
let io: Target.Dependency = .product(name: "CoroutinesIO", package: "swift-coroutines")

/// A program of one idea, that needs no library but this one.
func small(_ name: String, _ libraries: Target.Dependency...) -> Target {
  .executableTarget(name: name, dependencies: [coroutines] + libraries, swiftSettings: strict)
}

let package = Package(
  name: "examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-coroutines", path: "..")],
  targets: [
    small("prime-sieve"),
    small("same-fringe"),
    small("n-queens"),
    small("dining-philosophers"),
    small("pipeline"),
    small("rate-limiter", testing),
    small("crawler", io),
    small("chat-server", io),
    small("supervision-tree"),
    small("parser"),
    small("streaming-json"),
    small("login", testing),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // Without pkgConfig: SwiftPM warns of a flag in hiredis', which is not needed.
    .systemLibrary(name: "CRedis", providers: [.apt(["libhiredis-dev"])]),
    .systemLibrary(
      name: "CCurl",
      pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]
    ),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    // Without pkgConfig: SwiftPM warns of flags in gdlib's, which are not needed.
    .systemLibrary(name: "CGD", providers: [.apt(["libgd-dev"])]),
    // What the programs have in common and what is no part of the lesson: command line, checks, clock, threads.
    .target(
      name: "ExampleSupport",
      dependencies: [coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "postgres-crowd",
      dependencies: ["CPostgres", "ExampleSupport", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "redis-crowd",
      dependencies: ["CRedis", "ExampleSupport", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "curl-crowd",
      dependencies: ["CCurl", "ExampleSupport", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "tls-echo",
      dependencies: ["CTLS", "ExampleSupport", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "sqlite-writers",
      dependencies: ["CSQLite", "ExampleSupport", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "contact-sheet",
      dependencies: ["CGD", "ExampleSupport", coroutines],
      swiftSettings: strict
    ),
  ]
)
