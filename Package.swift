// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Builds whose primitives can be held up at every access to shared memory, for `Race`.
let checked: SwiftSetting = .define("COROUTINES_CHECKED", .when(traits: ["CheckedPrimitives"]))

let strict: [SwiftSetting] = [
  checked,
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  // Imports say whether they are part of a module's face.
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let strictC: [CSetting] = [
  .treatAllWarnings(as: .error),
  .enableWarning("all"),
  .enableWarning("extra"),
]

let package = Package(
  name: "swift-coroutines",
  // Synchronization needs these.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "Coroutines", targets: ["Coroutines"]),
    .library(name: "CoroutinesTesting", targets: ["CoroutinesTesting"]),
    .library(name: "CoroutinesFoundation", targets: ["CoroutinesFoundation"]),
    .library(name: "CoroutinesIO", targets: ["CoroutinesIO"]),
    .library(name: "CoroutinesBlockingCalls", targets: ["CoroutinesBlockingCalls"]),
    .library(name: "CoroutinesTracing", targets: ["CoroutinesTracing"]),
    .library(name: "coswift", targets: ["coswift"]),
    .executable(name: "tour", targets: ["tour"]),
    .executable(name: "coroutine-bench", targets: ["coroutine-bench"]),
  ],
  traits: [
    .trait(
      name: "CheckedPrimitives",
      description: "Preemption points inside the library, for races; slower, for tests only."
    )
  ],
  targets: [
    .target(name: "CCoroutineKernel", cSettings: strictC),
    // For coroutine-bench only.
    .target(name: "CAllocationCounter", cSettings: strictC),
    .target(name: "CoroutineKernel", dependencies: ["CCoroutineKernel"], swiftSettings: strict),
    .target(
      name: "Coroutines",
      dependencies: ["CoroutineKernel", "CCoroutineKernel"],
      swiftSettings: strict
    ),
    .target(
      name: "CoroutinesTesting",
      dependencies: ["Coroutines", "CoroutineKernel", "CCoroutineKernel"],
      swiftSettings: strict
    ),
    .target(name: "CCoroutinesFoundation", cSettings: strictC),
    .target(
      name: "CoroutinesFoundation",
      dependencies: [
        "Coroutines", "CoroutineKernel", "CCoroutineKernel", "CCoroutinesFoundation",
        "CCoroutinesIO",
      ],
      swiftSettings: strict
    ),
    .target(name: "CCoroutinesIO", cSettings: strictC),
    // Sockets, pipes, files, names, signals, child processes.
    .target(
      name: "CoroutinesIO",
      dependencies: ["Coroutines", "CoroutineKernel", "CCoroutineKernel", "CCoroutinesIO"],
      swiftSettings: strict
    ),
    // A small server for tools and tests; no product.
    .target(
      name: "HTTPServer",
      dependencies: ["Coroutines", "CoroutinesIO"],
      swiftSettings: strict
    ),
    // libc's blocking calls, which park the coroutine that makes them.
    .target(
      name: "CCoroutinesBlockingCalls",
      dependencies: ["CCoroutineKernel"],
      cSettings: strictC
    ),
    .target(
      name: "CoroutinesBlockingCalls",
      dependencies: [
        "Coroutines", "CoroutineKernel", "CCoroutineKernel", "CCoroutinesBlockingCalls",
      ],
      swiftSettings: strict
    ),
    // The page that shows a trace, as it is in files of its own.
    .target(
      name: "CCoroutinesTracing",
      exclude: ["LICENSE-d3", "Page"],
      cSettings: strictC
    ),
    // A timeline of what coroutines do.
    .target(
      name: "CoroutinesTracing",
      dependencies: ["Coroutines", "CoroutineKernel", "CCoroutineKernel", "CCoroutinesTracing"],
      swiftSettings: strict
    ),
    // The names of coobjc, coswift and RJIterator.
    .target(
      name: "coswift",
      dependencies: ["Coroutines", "CoroutinesFoundation", "CoroutineKernel", "CCoroutineKernel"],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "tour",
      dependencies: [
        "Coroutines", "CoroutinesFoundation", "CoroutinesIO", "CoroutinesTracing", "HTTPServer",
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "coroutine-bench",
      dependencies: ["Coroutines", "CCoroutineKernel", "CAllocationCounter"],
      swiftSettings: strict
    ),
    // How many tests run at a time: below, all test targets are told to depend on it.
    .target(name: "CTestWidth", path: "Tests/CTestWidth", cSettings: strictC),
    .testTarget(
      name: "CoroutineKernelTests",
      dependencies: ["CoroutineKernel", "CCoroutineKernel", "CoroutineTestSupport"],
      swiftSettings: strict
    ),
    .target(
      name: "CoroutineTestSupport",
      dependencies: ["Coroutines", "CoroutineKernel", "CCoroutineKernel"],
      path: "Tests/CoroutineTestSupport",
      swiftSettings: strict
    ),
    // A server for tests that need one, with all the faults that they need.
    .target(
      name: "HTTPTestServer",
      dependencies: ["CCoroutinesFoundation"],
      path: "Tests/HTTPTestServer",
      swiftSettings: strict
    ),
    // What has to be seen on a main queue that a main thread serves, in a process of its own.
    .executableTarget(
      name: "main-queue-probe",
      dependencies: ["Coroutines", "CoroutineTestSupport"],
      path: "Tests/MainQueueProbe",
      swiftSettings: strict
    ),
    // Programs that go wrong, with nobody beside them.
    .executableTarget(
      name: "diagnostics-probe",
      dependencies: ["Coroutines", "CoroutineKernel"],
      path: "Tests/DiagnosticsProbe",
      swiftSettings: strict
    ),
    // Coroutines in all states, to be looked at with debuggers, and crashes in coroutines.
    .executableTarget(
      name: "debugger-probe",
      dependencies: ["Coroutines"],
      path: "Tests/DebuggerProbe",
      swiftSettings: strict
    ),
    // A thread that stops at each instruction.
    .target(
      name: "CSingleStep",
      dependencies: ["CCoroutineKernel"],
      path: "Tests/CSingleStep",
      cSettings: strictC
    ),
    .testTarget(
      name: "CoroutinesTests",
      dependencies: [
        "Coroutines", "CoroutineKernel", "CCoroutineKernel", "CoroutineTestSupport", "CSingleStep",
        "main-queue-probe", "diagnostics-probe",
      ],
      swiftSettings: strict
    ),
    // What the suites of other systems ask for, in our own words; a folder and a table for each.
    .testTarget(
      name: "AcceptanceTests",
      dependencies: ["Coroutines", "CoroutinesTesting"],
      exclude: [
        "README.md", "CoroutineClassics/README.md", "CrossbeamChannels/README.md",
        "ECMAScriptGenerators/README.md", "GoChannels/README.md", "LibdillChannels/README.md",
        "PromisesAPlus/README.md", "SavinaActors/README.md", "TrioScopes/README.md",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CoroutinesTestingTests",
      dependencies: ["CoroutinesTesting", "Coroutines", "CoroutineTestSupport"],
      swiftSettings: strict
    ),
    // Loops against one another, held up inside the library: with the trait CheckedPrimitives.
    .testTarget(
      name: "RaceTests",
      dependencies: ["CoroutinesTesting", "Coroutines", "CoroutineKernel", "CCoroutineKernel"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CoroutinesFoundationTests",
      dependencies: [
        "CoroutinesFoundation", "Coroutines", "CoroutineKernel", "CCoroutineKernel",
        "CoroutineTestSupport", "CCoroutinesFoundation", "HTTPTestServer",
      ],
      swiftSettings: strict
    ),
    // Passes connections on, with faults.
    .target(
      name: "FaultProxy",
      dependencies: ["CoroutinesIO", "Coroutines"],
      path: "Tests/FaultProxy",
      swiftSettings: strict
    ),
    .testTarget(
      name: "CoroutinesIOTests",
      dependencies: [
        "CoroutinesIO", "Coroutines", "CoroutineKernel", "CCoroutineKernel", "CoroutinesTesting",
        "CoroutineTestSupport", "FaultProxy",
      ],
      swiftSettings: strict
    ),
    // Synchronous C, as it is written by people who know nothing of coroutines.
    .target(name: "CBlockingCode", path: "Tests/CBlockingCode", cSettings: strictC),
    .testTarget(
      name: "BlockingCallsTests",
      dependencies: [
        "CoroutinesBlockingCalls", "Coroutines", "CCoroutinesBlockingCalls", "CBlockingCode",
        "CoroutineTestSupport", "CoroutinesTesting",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "TracingTests",
      dependencies: [
        "CoroutinesTracing", "CoroutinesTesting", "Coroutines", "CoroutineKernel",
        "CCoroutineKernel",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: ["HTTPServer", "Coroutines", "CoroutinesIO", "CoroutinesFoundation"],
      swiftSettings: strict
    ),
    // What users of coswift lean on, played on queues of the tests and, in a process of its own, on
    // the main queue.
    .target(
      name: "CoswiftScenarios",
      dependencies: ["coswift"],
      path: "Tests/CoswiftScenarios",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "coswift-probe",
      dependencies: ["coswift", "CoswiftScenarios"],
      path: "Tests/CoswiftProbe",
      swiftSettings: strict
    ),
    .testTarget(
      name: "CoswiftTests",
      dependencies: [
        "coswift", "CCoroutineKernel", "CoroutineTestSupport", "CoswiftScenarios", "coswift-probe",
      ],
      exclude: ["Ancestors.md"],
      swiftSettings: strict
    ),
    // A file as it was written for coswift, in the language mode of then.
    .testTarget(
      name: "CoswiftSwift5Tests",
      dependencies: ["coswift"],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    // Every code sample of the five documents, by document and section.
    .testTarget(
      name: "SeedTests",
      dependencies: [
        "coswift", "Coroutines", "CoroutinesFoundation", "CoroutineKernel", "CCoroutineKernel",
        "CoswiftScenarios", "CoroutineTestSupport", "HTTPTestServer",
      ],
      exclude: ["README.md"],
      swiftSettings: strict
    ),
    // Generated programs, run against a model: in the tests, and under libFuzzer by scripts/fuzz.
    .target(
      name: "FuzzPrograms",
      dependencies: ["CoroutinesTesting", "Coroutines"],
      path: "Tests/FuzzPrograms",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "fuzz-programs",
      dependencies: ["FuzzPrograms"],
      path: "Tests/FuzzDriver",
      swiftSettings: strict
    ),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzPrograms"],
      exclude: ["Corpus"],
      swiftSettings: strict
    ),
    // Every message that the library has, provoked, and compared with Documentation/Errors.md.
    .testTarget(
      name: "ErrorCatalogueTests",
      dependencies: [
        "Coroutines", "CoroutinesTesting", "CoroutinesIO", "CoroutinesFoundation", "coswift",
        "CoroutinesTracing", "CoroutineKernel", "CCoroutineKernel",
      ],
      swiftSettings: strict
    ),
    // Millions of operations, with memory flat: scripts/soak.
    .executableTarget(
      name: "soak",
      dependencies: ["Coroutines"],
      path: "Tests/Soak",
      swiftSettings: strict
    ),
    .testTarget(
      name: "TourTests",
      dependencies: ["tour", "Coroutines", "CoroutinesIO", "HTTPServer", "CoroutineTestSupport"],
      swiftSettings: strict
    ),
  ]
)

for target in package.targets where target.type == .test {
  target.dependencies.append("CTestWidth")
}

// For scripts that need some tests of the core only: the names of test targets, separated by commas.
if let wanted = Context.environment["COROUTINES_CORE_TESTS"] {
  let core: Set = [
    "CTestWidth", "CCoroutineKernel", "CoroutineKernel", "Coroutines", "CoroutinesTesting",
    "CCoroutinesIO", "CoroutinesIO", "FaultProxy", "CoroutineTestSupport",
    "CCoroutinesBlockingCalls", "CoroutinesBlockingCalls", "CBlockingCode", "CSingleStep",
    "main-queue-probe", "diagnostics-probe", "debugger-probe",
    "CCoroutinesTracing", "CoroutinesTracing",
  ]
  let kept = core.union(wanted.split(separator: ",").map { String($0) })
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
}
