import Coroutines
let c = ContinuousClock()
struct E1: Error {}
func gens() {
  let n = 30_000_000
  let g = Generator<Int> { yield in var i = 0; while true { try yield(i); i += 1 } }
  var s = 0
  let d = c.measure { for _ in 0..<n { s &+= g.next()! } }
  print("gen next", d / n, s)
  let h = Generator<Int> { yield in var i = 0; while i < n { try yield(i); i += 1 } }
  s = 0
  let d2 = c.measure { for x in h { s &+= x } }
  print("gen for", d2 / n, s)
  for x in Generator<Int>({ y in defer { print("unwound") }; for i in 0... { try y(i) } }) { if x == 3 { break } }
  let t = TwoWayGenerator<String, Int, String> { y in let a = try y("a"); let b = try y("b\(a ?? -1)"); return "r\(b ?? -1)" }
  print(try! t.next(), try! t.next(1), try! t.next(2), try! t.next(3))
}
func main() throws {
  gens()
  try runBlocking {
    let p = Promise<Int> { fulfill, reject in try Coroutine.sleep(for: .milliseconds(10)); fulfill(7) }
    let q = Promise<Int> { throw E1() }
    print(try awaitAll(p, q))
    print(try offload { 5 }, try awaitTask { try await Task.sleep(for: .milliseconds(5)); return 9 })
    let l = Promise<Int> { f, r in }
    do { _ = try l.await() } catch { print(error) }
    let n = 1_000_000
    let d = try c.measure { for i in 0..<n { let p = Promise<Int>(); p.fulfill(i); _ = try p.await() } }
    print("promise settled", d / n)
    let ch = Channel<Int>(capacity: 2)
    Task { for i in 0..<5 { try await ch.send(i) }; ch.close() }
    for x in ch { print(x, terminator: " ") }
    print()
  }
}
do { try main() } catch { print("main:", error) }
