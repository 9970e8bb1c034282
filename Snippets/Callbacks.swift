// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

/// An interface with a callback.
func square(_ number: Int, _ answer: @escaping @Sendable (Int?, (any Error)?) -> Void) {
  DispatchQueue.global().async { answer(number * number, nil) }
}

/// An interface with a delegate.
protocol SensorDelegate: AnyObject, Sendable {
  func sensor(_ sensor: Sensor, didMeasure degrees: Double)
}

final class Sensor: @unchecked Sendable {
  weak var delegate: (any SensorDelegate)?
  func measure() { DispatchQueue.global().async { self.delegate?.sensor(self, didMeasure: 21.5) } }
}

final class Measurement: SensorDelegate {
  let done: CallbackResolver<Double>
  init(_ done: CallbackResolver<Double>) { self.done = done }
  func sensor(_ sensor: Sensor, didMeasure degrees: Double) { done(degrees) }
}

try runBlocking {
  let number: Int = try awaitCallback { done in
    square(7) { value, error in done(value, error) }
  }
  print(number)  // prints 49

  let sensor = Sensor()
  let degrees = Promise.delegated(by: Measurement.init) { measurement in
    sensor.delegate = measurement
    sensor.measure()
  }
  print(try degrees.await())  // prints 21.5

  // A function that calls back as long as it runs, as a sequence.
  let words = Generator<Substring>.callbacks { emit in
    "one two three".split(separator: " ").forEach { _ = emit($0) }
  }
  print(words.map(\.count))  // prints [3, 3, 5]

  // Events that come at any time, from any thread.
  let events = Generator<Int>.events { events in
    DispatchQueue.global().async { for number in 1...5 { events.send(number) } }
    return { print("no more wanted") }
  }
  for event in events where event == 3 { break }  // prints no more wanted
}
