// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct ProgressMeterTests {
  @Test(
    arguments: [
      (-1, 0), (0, 0), (0.5, 0.5), (1, 1), (2, 1), (.infinity, 1), (-.infinity, 0), (-0.0, 0),
    ] as [(Double, Double)]
  )
  func `a fraction outside of 0 to 1 is moved to the nearer end`(reported: Double, kept: Double) {
    let meter = ProgressMeter()
    #expect(meter.report(reported))
    #expect(meter.fraction == kept)
  }

  @Test func `not-a-number is ignored`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      #expect(!promise.report(.nan))
      promise.report(0.5)
      #expect(!promise.report(.signalingNaN))
      promise.fulfill(1)
      #expect(Array(promise) == [0.5])
    }
  }

  @Test func `the latest fraction counts, even if it is smaller`() {
    let meter = ProgressMeter()
    meter.report(0.8)
    meter.report(0.1)
    #expect(meter.fraction == 0.1)
  }

  @Test func `reporting the same again wakes nobody`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let reader = launch { Array(promise) }
      for fraction in [0.5, 0.5, 0.5, 0.75] {
        try letOthersRun()
        promise.report(fraction)
      }
      try letOthersRun()
      promise.fulfill(1)
      try #expect(reader.value() == [0.5, 0.75])
    }
  }

  @Test func `after the end nothing is taken`() {
    let promise = ProgressPromise<Int>()
    promise.report(0.5)
    promise.fulfill(1)
    #expect(!promise.report(0.75))
    #expect(promise.fraction == 0.5)
  }

  @Test func `a parent is the weighted mean of its parts`() throws {
    let parent = ProgressMeter()
    let (heavy, light) = (ProgressMeter(), ProgressMeter())
    parent.add(heavy, weight: 3)
    parent.add(light)
    #expect(parent.fraction == 0)
    heavy.report(0.5)
    #expect(parent.fraction == 0.375)
    light.report(1)
    #expect(parent.fraction == 0.625)
    heavy.report(1)
    #expect(parent.fraction == 1)
  }

  @Test func `what a parent reports itself is one more part of weight 1`() {
    let parent = ProgressMeter()
    let child = ProgressMeter()
    parent.add(child, weight: 3)
    child.report(1)
    #expect(parent.fraction == 1)
    parent.report(0.5)
    #expect(parent.fraction == 0.875)
    parent.report(1)
    #expect(parent.fraction == 1)
  }

  @Test func `many parts of odd weights come to exactly 1`() {
    let parent = ProgressMeter()
    let children = (1...99).map { _ in ProgressMeter() }
    for (index, child) in children.enumerated() {
      parent.add(child, weight: 0.1 * Double(index + 1))
    }
    for step in [0.1, 0.3, 0.7, 1] { for child in children { child.report(step) } }
    #expect(parent.fraction == 1)
  }

  @Test func `grandchildren count, and a meter may be a part of two`() {
    let (one, two, middle, leaf) = (
      ProgressMeter(), ProgressMeter(), ProgressMeter(), ProgressMeter()
    )
    one.add(middle)
    middle.add(leaf)
    two.add(leaf)
    two.add(ProgressMeter())
    leaf.report(0.5)
    #expect([one.fraction, middle.fraction, two.fraction] == [0.5, 0.5, 0.25])
  }

  @Test func `a part that has come some way counts when it is added`() {
    let parent = ProgressMeter()
    let child = ProgressMeter()
    child.report(0.5)
    parent.add(child)
    #expect(parent.fraction == 0.5)
  }

  @Test func `a fulfilled part counts as done, a rejected one as far as it came`() throws {
    try runBlocking {
      let parent = ProgressPromise<Void>()
      let (good, bad, late) = (
        ProgressPromise<Int>(), ProgressPromise<String>(), ProgressPromise<Int> { _ in 1 }
      )
      parent.add(good)
      parent.add(bad)
      parent.add(late, weight: 2)
      #expect(parent.fraction == 0.5)
      bad.report(0.5)
      bad.reject(Failure())
      good.fulfill(1)
      #expect(parent.fraction == 0.875)
    }
  }

  @Test func `a loop over the parent follows its parts to the end`() throws {
    try runBlocking {
      let parent = ProgressPromise<Int> { progress in
        let parts = (0..<2).map { _ in
          ProgressPromise<Int> { part in
            for step in 1...2 {
              try letOthersRun()
              part.report(Double(step) / 2)
            }
            return 1
          }
        }
        for part in parts { progress.add(part) }
        return try parts.reduce(0) { try $0 + $1.await() }
      }
      let seen = Array(parent)
      #expect(seen.first == 0)
      #expect(seen.last == 1)
      #expect(seen.contains(0.5))
      #expect(seen == seen.sorted())
      try #expect(parent.await() == 2)
    }
  }

  @Test func `cancelling a parent cancels the promises that are parts of it (rule 8)`() throws {
    let parent = ProgressPromise<Void>()
    let (child, late) = (ProgressPromise<Int>(), ProgressPromise<Int>())
    let grandchild = ProgressPromise<Int>()
    parent.add(child)
    child.add(grandchild)
    parent.cancel()
    parent.add(late)
    for promise in [child, grandchild, late] {
      #expect(promise.error as? PromiseError == .cancelled)
    }
  }

  @Test func `rejecting a parent leaves its parts alone`() {
    let parent = ProgressPromise<Void>()
    let child = ProgressPromise<Int>()
    parent.add(child)
    parent.reject(Failure())
    #expect(child.isPending)
    #expect(child.report(0.5))
  }

  @Test func `a parent keeps no part alive, and a part no parent`() throws {
    try runBlocking {
      let parent = ProgressPromise<Void>()
      var child: ProgressPromise<Int>? = ProgressPromise()
      child.map { parent.add($0) }
      let abandoned = child?.promise.recover { _ in -1 }
      child = nil
      try #expect(abandoned?.await() == -1)
      weak let forgotten = {
        let outer = ProgressMeter()
        outer.add(parent.meter)
        return outer
      }()
      #expect(forgotten == nil)
      #expect(parent.report(0.5))
    }
  }

  @Test func `a ring of parts stops the program and says why (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let meters = (0..<3).map { _ in ProgressMeter() }
      meters[0].add(meters[1])
      meters[1].add(meters[2])
      meters[2].add(meters[0])
      withExtendedLifetime(meters) {}
    }
    #expect(result.text.contains("added to one of its own parts"))
  }

  @Test(arguments: ["0", "-1", "inf", "nan"])
  func `a weight that is no weight stops the program and says why (rule 12)`(weight: String) async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) { [weight] in
      ProgressMeter().add(ProgressMeter(), weight: Double(weight) ?? 1)
    }
    #expect(result.text.contains("weights are finite and above zero"))
  }
}
