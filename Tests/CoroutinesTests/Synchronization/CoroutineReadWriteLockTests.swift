// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineReadWriteLockTests {
  @Test func `readers read together; a writer is alone`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let (first, second) = (Gate(), Gate())
      let steps = Steps<String>()
      launch {
        try lock.withReadLock {
          steps.add("a in")
          try first.wait()
        }
      }
      launch {
        try lock.withReadLock {
          steps.add("b in")
          try second.wait()
        }
      }
      launch { try lock.withWriteLock { steps.add("write") } }
      try letOthersRun()
      first.open()
      try letOthersRun()
      #expect(steps.entries == ["a in", "b in"])
      second.open()
      try letOthersRun()
      #expect(steps.entries == ["a in", "b in", "write"])
    }
  }

  @Test func `readers that come after a waiting writer wait behind it (rule 4)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let gate = Gate()
      let steps = Steps<String>()
      launch { try lock.withReadLock { try gate.wait() } }
      launch { try lock.withWriteLock { steps.add("write") } }
      for n in 1...3 { launch { try lock.withReadLock { steps.add("read \(n)") } } }
      launch { try lock.withWriteLock { steps.add("write again") } }
      launch { try lock.withReadLock { steps.add("read 4") } }
      try letOthersRun()
      #expect(steps.entries == [])
      #expect(lock.withReadLockIfReady { true } == nil, "a writer waits")
      gate.open()
      try letOthersRun()
      try letOthersRun()
      #expect(
        steps.entries == ["write", "read 1", "read 2", "read 3", "write again", "read 4"]
      )
    }
  }

  @Test func `a writer that leaves lets in all readers up to the next writer (rule 13)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let (gate, readers) = (Gate(), Gate())
      var (inside, written) = (0, false)
      launch { try lock.withWriteLock { try gate.wait() } }
      for _ in 0..<3 {
        launch {
          try lock.withReadLock {
            inside += 1
            try readers.wait()
          }
        }
      }
      launch { try lock.withWriteLock { written = true } }
      try letOthersRun()
      #expect(inside == 0)
      gate.open()
      try letOthersRun()
      #expect(inside == 3)
      #expect(!written)
      readers.open()
      try letOthersRun()
      #expect(written)
    }
  }

  @Test func `readers behind a cancelled writer go in (rule 3)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let gate = Gate()
      launch { try lock.withReadLock { try gate.wait() } }
      let writer = launch { try lock.withWriteLock {} }
      let reader = launch { try lock.withReadLock { 1 } }
      try letOthersRun()
      #expect(reader.state == .suspended)
      try writer.cancelAndJoin()
      try #expect(reader.value() == 1)
      gate.open()
    }
  }

  @Test func `whoever was let in before the cancellation is in (rule 3)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let gate = Gate()
      var entered: [String] = []
      launch { try lock.withWriteLock { try gate.wait() } }
      let reader = launch { try lock.withReadLock { entered.append("reader") } }
      let writer = launch { try lock.withWriteLock { entered.append("writer") } }
      let last = launch { try lock.withWriteLock { 2 } }
      try letOthersRun()
      gate.open()
      try Coroutine.yield()
      reader.cancel()
      writer.cancel()
      try #expect(last.value() == 2)
      #expect(entered == ["reader"])
      #expect(reader.error == nil)
      #expect(writer.error is CancellationError)
    }
  }

  @Test func `a reader may read again though a writer waits`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      let writer = Cell<Coroutine>()
      try lock.withReadLock {
        writer.value = launch { try lock.withWriteLock {} }
        try letOthersRun()
        try lock.withReadLock { #expect(writer.value?.state == .suspended) }
        #expect(lock.withReadLockIfReady { true } == true)
      }
      try writer.value?.join()
      #expect(writer.value?.error == nil)
    }
  }

  @Test func `what would wait for itself is refused (rule 12)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      try lock.withReadLock {
        #expect(throws: SynchronizationError.heldByCaller) { try lock.withWriteLock {} }
        #expect(lock.withWriteLockIfReady {} == nil)
      }
      try lock.withWriteLock {
        #expect(throws: SynchronizationError.heldByCaller) { try lock.withReadLock {} }
        #expect(throws: SynchronizationError.heldByCaller) { try lock.withWriteLock {} }
      }
      #expect(lock.withWriteLockIfReady { true } == true)
    }
  }

  @Test func `entering is a cancellation point even when nobody is in (rule 2)`() throws {
    try runBlocking {
      let lock = CoroutineReadWriteLock()
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try lock.withReadLock {} }
        #expect(throws: CancellationError.self) { try lock.withWriteLock {} }
      }.value()
    }
  }

  @Test func `outside a coroutine only the variants that never wait work (rule 12)`() {
    let lock = CoroutineReadWriteLock()
    onPlainThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try lock.withReadLock {} }
      #expect(throws: CoroutineError.outsideCoroutine) { try lock.withWriteLock {} }
      let both = lock.withReadLockIfReady { lock.withReadLockIfReady { 3 } ?? 0 }
      #expect(both == 3)
      #expect(lock.withWriteLockIfReady { lock.withReadLockIfReady { 4 } == nil } == true)
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `writers are alone among threads, whoever is cancelled (rule 3)`(place: Elsewhere) throws {
    let lock = CoroutineReadWriteLock()
    let (readers, writers) = (Tally(), Tally())
    try runBlocking {
      let schedulers = place.schedulers(4)
      for round in 0..<100 {
        let workers = (0..<8).map { index in
          launch(on: schedulers[index % 4]) {
            for _ in 0..<3 {
              if index % 3 == 0 {
                try lock.withWriteLock {
                  #expect(writers.add() == 1)
                  #expect(readers.value == 0)
                  defer { writers.add(-1) }
                  try Coroutine.yield()
                }
              } else {
                try lock.withReadLock {
                  readers.add()
                  #expect(writers.value == 0)
                  defer { readers.add(-1) }
                  try Coroutine.yield()
                }
              }
            }
          }
        }
        workers[round % 8].cancel()
        if round % 2 == 0 { try Coroutine.yield() }
        workers[(round + 3) % 8].cancel()
        for worker in workers { try worker.join() }
        #expect(lock.withWriteLockIfReady { true } == true)
      }
    }
  }
}
