// SPDX-License-Identifier: Apache-2.0

import Coroutines

typealias Numbers = TwoWayGenerator<Int, Int, Int>

/// What the tests throw in and out.
struct Boom: Error, Equatable {
  let code: Int
  init(_ code: Int) { self.code = code }
}

/// One call of a generator's user.
enum GeneratorCall {
  case next
  case send(Int)
  case fail(Int)
  case finish(Int)
}

/// Makes the calls and says what each gave: `yields 1`, `returns 1`, `is done`, `throws 1`.
func play(_ generator: Numbers, _ calls: GeneratorCall...) -> [String] {
  calls.map { call in
    do {
      let step =
        switch call {
        case .next: try generator.next()
        case .send(let value): try generator.next(value)
        case .fail(let code): try generator.throw(Boom(code))
        case .finish(let value): try generator.return(value)
        }
      switch step {
      case .yielded(let value): return "yields \(value)"
      case .returned(let value?): return "returns \(value)"
      case .returned(nil): return "is done"
      }
    } catch let error as Boom {
      return "throws \(error.code)"
    } catch GeneratorError.alreadyRunning {
      return "is running"
    } catch {
      return "throws \(error)"
    }
  }
}

/// ECMAScript's `try … finally`: the last part may yield, and what it throws counts.
@discardableResult
func attempt<Value>(_ body: () throws -> Value, finally last: () throws -> Void) throws -> Value {
  let result = Result { try body() }
  try last()
  return try result.get()
}

/// A generator that its own body can reach.
final class OwnGenerator {
  var generator: Numbers?

  init(_ body: @escaping (OwnGenerator, Numbers.Yield) throws -> Int) {
    generator = Numbers { [unowned self] yield in try body(self, yield) }
  }

  func play(_ calls: GeneratorCall) -> String {
    guard let generator else { return "is gone" }
    return AcceptanceTests.play(generator, calls)[0]
  }
}
