// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  // One at a time, across waits.
  let ledger = CoroutineMutex()
  let changed = CoroutineCondition(ledger)
  var balance = 0
  launch {
    try ledger.withLock {
      try changed.wait { balance >= 20 }  // others have the mutex meanwhile
      print("enough:", balance)  // prints enough: 20
    }
  }
  // At most two at a time; and a count of what is left to do.
  let tellers = CoroutineSemaphore(permits: 2)
  let deposits = CoroutineWaitGroup(count: 4)
  for _ in 1...4 {
    launch {
      defer { deposits.done() }
      try tellers.withPermit {
        try Coroutine.sleep(for: .milliseconds(1))
        try ledger.withLock {
          balance += 5
          changed.signal()
        }
      }
    }
  }
  try deposits.wait()

  // Many readers or one writer; made once; round after round.
  let table = CoroutineReadWriteLock()
  try table.withReadLock {
    print(table.withWriteLockIfReady { "written" } ?? "somebody reads")  // prints somebody reads
  }
  let connection = CoroutineOnce<Int>()
  let users = (1...3).map { n in launch { try connection.value { n } } }
  print(try users.map { try $0.value() })  // prints [1, 1, 1]

  let step = CoroutineBarrier(parties: 2)
  launch {
    try step.wait()
    print("both are here")
  }
  try step.wait()
}  // prints both are here
