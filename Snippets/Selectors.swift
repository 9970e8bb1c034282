// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let sensors = (1...3).map { _ in Channel<Int>() }
  for (index, sensor) in sensors.enumerated() {
    launch {
      defer { sensor.close() }
      for reading in 1...2 { try sensor.send(10 * (index + 1) + reading) }
    }
  }
  var readings: [Int] = []
  var selector = Selector<Bool>()
  for sensor in sensors {
    selector.receive(from: sensor, whenClosed: { false }) { reading in
      readings.append(reading)
      return true
    }
  }
  while !selector.isEmpty {
    let isOpen = try selector.select()
    if !isOpen { selector.removeWinner() }
  }
  print(readings.sorted())  // prints [11, 12, 21, 22, 31, 32]
}
