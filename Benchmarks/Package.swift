// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-coroutines", path: "..")],
  targets: [
    // What every program has in common: its command line, its calibration and its line of JSON.
    .target(name: "harness", swiftSettings: strict),
    .executableTarget(
      name: "ours",
      dependencies: ["harness", .product(name: "Coroutines", package: "swift-coroutines")],
      swiftSettings: strict
    ),
    // The servers of compare-network.
    .executableTarget(
      name: "network",
      dependencies: [
        .product(name: "Coroutines", package: "swift-coroutines"),
        .product(name: "CoroutinesIO", package: "swift-coroutines"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(name: "tasks", dependencies: ["harness"], swiftSettings: strict),
    .executableTarget(name: "dispatch", dependencies: ["harness"], swiftSettings: strict),
    .executableTarget(name: "iterators", dependencies: ["harness"], swiftSettings: strict),
  ]
)
