import Coroutines
let c = ContinuousClock()
func main() throws {
  let n = 3_000_000
  try runBlocking {
    let ch = Channel<Int>()
    launch { for i in 0..<n { try ch.send(i) }; ch.close() }
    var s = 0
    let d = c.measure { for x in ch { s &+= x } }
    print("unbuffered", d / n, s)
    let cb = Channel<Int>(capacity: 128)
    launch { for i in 0..<n { try cb.send(i) }; cb.close() }
    s = 0
    let d2 = c.measure { for x in cb { s &+= x } }
    print("buffered128", d2 / n, s)
    let chans = (0..<4).map { _ in Channel<Int>(capacity: 1) }
    for k in 0..<4 { launch { while true { try chans[k].send(k) } } }
    let d3 = try c.measure { for _ in 0..<n { try select { Receive(from: chans[0]) { s &+= $0 }; Receive(from: chans[1]) { s &+= $0 };Receive(from: chans[2]) { s &+= $0 };Receive(from: chans[3]) { s &+= $0 } } } }
    print("select4", d3 / n)
    for ch in chans { ch.close() }
    let e = Channel<Int>()
    let d4 = try c.measure { for _ in 0..<n { try select { Receive(from: e) { s &+= $0 }; Receive(from: e) { s &+= $0 }; Default { s &+= 1 } } } }
    print("select default", d4 / n)
    do { try select { Receive(from: e) { print($0) }; After(.milliseconds(5)) { print("after") } } } 
  }
}
do { try main() } catch { print("main:", error) }
