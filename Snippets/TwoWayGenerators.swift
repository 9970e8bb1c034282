// SPDX-License-Identifier: Apache-2.0

import Coroutines

let average = TwoWayGenerator<Double, Double, Void> { yield in
  var (sum, count) = (0.0, 0.0)
  while let number = try yield(count == 0 ? 0 : sum / count) {
    sum += number
    count += 1
  }
}
print(try average.next())  // prints yielded(0.0)
print(try average.next(10))  // prints yielded(10.0)
print(try average.next(20))  // prints yielded(15.0)
print(try average.next().isDone)  // prints true
