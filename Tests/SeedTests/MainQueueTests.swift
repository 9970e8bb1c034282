// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Testing

/// The documents' samples run on the main queue of an application.
@Suite(.timeLimit(.minutes(30))) struct MainQueueTests {
  private static let samples = [
    IOSActorTests.messages,
    IOSChannelTests.pipeline,
    IOSExampleTests.order,
    IOSGeneratorTests.numbers,
    IOSGeneratorTests.messages,
    IOSLaunchSourceTests.launch,
    IOSLaunchSourceTests.twice,
    IOSLaunchSourceTests.children,
    IOSPromiseTests.pipeline,
    IOSTipsTests.cancelled,
    IOSTipsTests.cancelledLater,
    IOSTipsTests.suspended,
    GuideActorTests.start,
    GuideActorTests.next,
    GuideActorTests.error,
    GuideCancelTests.rightAway,
    GuideCancelTests.whileItWaits,
    GuideChannelTests.likeAPromise,
    GuideChannelTests.likeAPromiseUnbuffered,
    GuideChannelTests.producer,
    GuideChannelTests.unbuffered,
    GuideChannelTests.buffered,
    GuideChannelTests.receive,
    GuideChannelTests.sendNonblock,
    GuideChannelTests.abandon,
    GuideChannelTests.several,
    GuideChannelTests.expandable,
    GuideLaunchTests.places,
    GuidePromiseTests.fulfill,
    GuidePromiseTests.reject,
    GuidePromiseTests.constructor,
    GuidePromiseTests.cancel,
    GuidePromiseTests.then,
    GuidePromiseTests.batch,
    DesignCancellationTests.cleanup,
    DesignCancellationTests.cooperative,
    DesignCancellationTests.direct,
    DesignChannelTests.scheduler,
    DesignChannelTests.unbuffered,
    DesignChannelTests.buffered,
    DesignChannelTests.unlimited,
    DesignCoroutineTests.states,
    LearningActorTests.tooEarly,
    LearningActorTests.awaited,
    LearningAwaitTests.fulfilled,
    LearningAwaitTests.rejected,
    LearningChannelTests.blocking,
    LearningChannelTests.neitherBlocks,
    LearningChannelTests.oneBlocks,
    LearningChannelTests.value,
    LearningChannelTests.errorAsValue,
    LearningChannelTests.ownCoroutine,
    LearningChannelTests.sameCoroutine,
    LearningGeneratorTests.cancelled,
    LearningGeneratorTests.notCancelled,
    LearningImageTests.callbacks,
    LearningImageTests.coroutine,
    LearningLaunchTests.ways,
    LearningLaunchTests.order,
    LearningLaunchTests.resumeNow,
  ]

  // The main thread of the tests is not ours to serve the main queue with, so they run in a process of their
  // own. RJIterator's have such processes each.
  @Test func `the samples have the same steps on the main queue`() async {
    await #expect(processExitsWith: .success) {
      for sample in MainQueueTests.samples { await checkOnMainQueue(sample) }
    }
  }
}
