import Coroutines
let c = ContinuousClock()
func main() throws {
  let r = try runBlocking {
    let a = launch { try Coroutine.sleep(for: .milliseconds(50)); print("a"); return 1 }
    let b = launch(name: "b") { print("b"); try Coroutine.yield(); print("b2"); return 2 }
    let n = launch(start: .immediately) { print("now"); try Coroutine.yield(); print("now2") }
    print("launched")
    try n.join()
    return try a.value() + b.value()
  }
  print(r)
  do { try runBlocking { try withTimeout(.milliseconds(20)) { try Coroutine.sleep(for: .seconds(5)) } } } catch { print(error) }
  do { try runBlocking { launch { throw CoroutineError.joinsItself } ; return } } catch { print("unobserved", error) }
  do { try runBlocking { try withCoroutineScope { s in s.launch { try Coroutine.sleep(for: .seconds(4)) }; s.launch { try Coroutine.yield(); throw TimeoutErrorX() } ; try Coroutine.sleep(for: .seconds(3)) } } } catch { print("scope", error) }
  let s = SerialScheduler()
  try runBlocking { let x = launch(on: s) { try Coroutine.sleep(for: .milliseconds(10)); return "from serial" }; print(try x.value()) }
  let n = 1_000_000
  try runBlocking {
    let d = try c.measure { for _ in 0..<n { let k = launch { 1 }; _ = try k.value() } }
    print("launch+join", d / n)
    let d2 = try c.measure { for _ in 0..<n/1000 { for _ in 0..<1000 { launch { } }; try Coroutine.yield() } }
    print("launch batch", d2 / n)
    launch { for _ in 0..<n { try Coroutine.yield() } }
    let d3 = try c.measure { for _ in 0..<n { try Coroutine.yield() } }
    print("yield", d3 / (2*n))
  }
}
struct TimeoutErrorX: Error {}
try main()
