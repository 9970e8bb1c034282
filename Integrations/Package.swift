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

let package = Package(
  name: "integrations",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "CoroutinesRedis", targets: ["CoroutinesRedis"])
  ],
  dependencies: [.package(name: "swift-coroutines", path: "..")],
  targets: [
    // Without pkgConfig: SwiftPM warns of a flag in hiredis', which is not needed.
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
    // Channels and mailboxes whose other ends are in other processes.
    .target(
      name: "CoroutinesRedis",
      dependencies: ["CHiredis", coroutines, blockingCalls],
      swiftSettings: strict
    ),
    // The processes that scripts/check-integrations starts, kills and counts; and the figures.
    .executableTarget(
      name: "redis-channel",
      dependencies: ["CoroutinesRedis", "CHiredis", coroutines, blockingCalls],
      swiftSettings: strict
    ),
  ]
)
