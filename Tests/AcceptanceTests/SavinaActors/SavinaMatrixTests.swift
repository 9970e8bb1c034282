// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Recursive Matrix Multiplication, All-Pairs Shortest Path, Successive Over-Relaxation: tables in parts.
@Suite(.timeLimit(.minutes(30))) struct SavinaMatrixTests {
  /// A square table.
  private struct Matrix: Sendable, Equatable {
    let size: Int
    private var cells: [Int]

    init(_ size: Int, _ cell: (Int, Int) throws -> Int) rethrows {
      self.size = size
      cells = try (0..<(size * size)).map { try cell($0 / size, $0 % size) }
    }

    subscript(row: Int, column: Int) -> Int {
      get { cells[row * size + column] }
      set { cells[row * size + column] = newValue }
    }

    func part(row: Int, column: Int, size: Int) -> Matrix {
      Matrix(size) { self[row + $0, column + $1] }
    }

    func times(_ other: Matrix) -> Matrix {
      Matrix(size) { row, column in
        (0..<size).reduce(0) { $0 + self[row, $1] * other[$1, column] }
      }
    }
  }

  // MARK: - Recursive Matrix Multiplication

  private struct Product: Sendable {
    let left: Matrix
    let right: Matrix
    /// Where in the result its first cell is.
    let row: Int
    let column: Int
  }

  private enum Master {
    case multiply(Matrix, Matrix, Reply<(Matrix, works: Int)>)
    case work(Product)
    case result(Matrix, row: Int, column: Int)
    case done
  }

  private static func worker(
    _ stage: SavinaStage,
    _ number: Int,
    master: Mailbox<Master>,
    threshold: Int
  ) -> MessageActor<Product> {
    stage.actor("worker \(number)") { mailbox in
      for product in mailbox {
        let size = product.left.size
        if size <= threshold {
          try master.post(
            .result(product.left.times(product.right), row: product.row, column: product.column)
          )
        } else {
          let half = size / 2
          for part in 0..<8 {
            let (top, middle, side) = (part / 4 * half, part / 2 % 2 * half, part % 2 * half)
            try master.post(
              .work(
                Product(
                  left: product.left.part(row: top, column: middle, size: half),
                  right: product.right.part(row: middle, column: side, size: half),
                  row: product.row + top,
                  column: product.column + side
                )
              )
            )
          }
        }
        // Behind what it has posted.
        try master.post(.done)
      }
    }
  }

  private static func multiply(
    _ stage: SavinaStage,
    _ left: Matrix,
    _ right: Matrix,
    workers count: Int,
    threshold: Int
  ) throws -> (Matrix, works: Int) {
    let master = stage.actor("master", of: Master.self) { mailbox in
      let workers = (0..<count).map {
        worker(stage, $0, master: mailbox, threshold: threshold)
      }
      guard case .multiply(let left, let right, let reply) = try mailbox.receive() else {
        throw SavinaFailure("work before the task")
      }
      var result = Matrix(left.size) { _, _ in 0 }
      var (sent, completed) = (1, 0)
      try workers[0].tell(Product(left: left, right: right, row: 0, column: 0))
      while completed < sent {
        switch try mailbox.receive() {
        case .multiply: throw SavinaFailure("a second task")
        case .work(let product):
          try workers[sent % count].tell(product)
          sent += 1
        case .result(let part, let row, let column):
          for i in 0..<part.size {
            for j in 0..<part.size { result[row + i, column + j] += part[i, j] }
          }
        case .done: completed += 1
        }
      }
      for worker in workers { worker.stop() }
      reply((result, works: sent))
    }
    return try master.ask { .multiply(left, right, $0) }.await()
  }

  @Test(arguments: SavinaPlace.all)
  func `matrix multiplication: products of parts add up to the product`(
    place: SavinaPlace
  ) throws {
    var random = SavinaRandom(seed: 5)
    let left = Matrix(16) { _, _ in Int.random(in: -9...9, using: &random) }
    let right = Matrix(16) { _, _ in Int.random(in: -9...9, using: &random) }
    let (result, works) = try SavinaStage.run(place) { stage in
      try Self.multiply(stage, left, right, workers: 5, threshold: 4)
    }
    #expect(result == left.times(right))
    #expect(works == 1 + 8 + 64)
  }

  @Test func `matrix multiplication: in many orders`() throws {
    let (left, right) = (Matrix(4) { row, _ in row }, Matrix(4) { _, column in column })
    let product = Matrix(4) { 4 * $0 * $1 }
    try SavinaStage.exploreOrders { stage in
      let (result, _) = try Self.multiply(stage, left, right, workers: 2, threshold: 2)
      try SavinaFailure.unless(result == product, "\(result)")
    }
  }

  // MARK: - All-Pairs Shortest Path

  private enum Block {
    case start([MessageActor<Block>], Reply<Matrix>)
    /// A block as it is before a step.
    case state(step: Int, block: Int, Matrix)
  }

  /// Distances by blocks of the table, each an actor that gets those of its row and its column at every step.
  private static func shortestPaths(
    _ stage: SavinaStage,
    _ graph: Matrix,
    blockSize: Int
  ) throws -> Matrix {
    let perSide = graph.size / blockSize
    let blocks = (0..<(perSide * perSide)).map { number in
      stage.actor("block \(number)", of: Block.self) { mailbox in
        let (row, column) = (number / perSide, number % perSide)
        let others = (0..<perSide).flatMap { [row * perSide + $0, $0 * perSide + column] }
          .filter { $0 != number }
        var state = graph.part(row: row * blockSize, column: column * blockSize, size: blockSize)
        // A neighbour may be a step ahead, and may be there before the start.
        var received: [Int: [Int: Matrix]] = [:]
        var start: ([MessageActor<Block>], Reply<Matrix>)?
        func receive() throws {
          switch try mailbox.receive() {
          case .start(let blocks, let reply): start = (blocks, reply)
          case .state(let step, let block, let matrix):
            let old = received[step, default: [:]].updateValue(matrix, forKey: block)
            try SavinaFailure.unless(old == nil, "block \(block) came twice in step \(step)")
          }
        }
        while start == nil { try receive() }
        guard let (all, reply) = start else { return }
        for step in 0..<graph.size {
          for other in others { try all[other].tell(.state(step: step, block: number, state)) }
          while received[step, default: [:]].count < others.count { try receive() }
          var known = received.removeValue(forKey: step) ?? [:]
          known[number] = state
          let (via, inside) = (step / blockSize, step % blockSize)
          guard let toVia = known[row * perSide + via], let fromVia = known[via * perSide + column]
          else { throw SavinaFailure("a block is missing") }
          let before = state
          state = Matrix(blockSize) { i, j in
            min(before[i, j], toVia[i, inside] + fromVia[inside, j])
          }
        }
        reply(state)
      }
    }
    let parts = try blocks.map { block in block.ask { .start(blocks, $0) } }
      .map { try $0.await() }
    return Matrix(graph.size) { row, column in
      parts[row / blockSize * perSide + column / blockSize][row % blockSize, column % blockSize]
    }
  }

  private static func graph(_ size: Int) -> Matrix {
    var random = SavinaRandom(seed: UInt64(size))
    return Matrix(size) { row, column in
      // Some edges are so long that ways round are shorter.
      let length = Int.random(in: 1...100, using: &random)
      return row == column ? 0 : Bool.random(using: &random) ? length : 10_000
    }
  }

  /// From each node by itself: the nearest unknown node is known next.
  private static func expectedPaths(_ graph: Matrix) -> Matrix {
    let rows = (0..<graph.size).map { start in
      var distances = (0..<graph.size).map { $0 == start ? 0 : Int.max }
      var unknown = Set(0..<graph.size)
      while let nearest = unknown.min(by: { distances[$0] < distances[$1] }) {
        unknown.remove(nearest)
        for node in unknown {
          distances[node] = min(distances[node], distances[nearest] + graph[nearest, node])
        }
      }
      return distances
    }
    return Matrix(graph.size) { rows[$0][$1] }
  }

  @Test(arguments: SavinaPlace.all)
  func `shortest paths: blocks that exchange their states find all distances`(
    place: SavinaPlace
  ) throws {
    let graph = Self.graph(18)
    let paths = try SavinaStage.run(place) { stage in
      try Self.shortestPaths(stage, graph, blockSize: 6)
    }
    #expect(paths == Self.expectedPaths(graph))
    #expect(paths != graph)
  }

  @Test func `shortest paths: in many orders`() throws {
    let graph = Self.graph(4)
    let expected = Self.expectedPaths(graph)
    try SavinaStage.exploreOrders { stage in
      let paths = try Self.shortestPaths(stage, graph, blockSize: 2)
      try SavinaFailure.unless(paths == expected, "\(paths)")
    }
  }

  // MARK: - Successive Over-Relaxation

  private enum Cell {
    /// Neighbours by direction: above, right, below, left.
    case start([MessageActor<Cell>?], Reply<Double>)
    /// From the neighbour in this direction.
    case value(Double, from: Int)
  }

  private static let omega = 1.25

  private static func neighbours(_ row: Int, _ column: Int, size: Int) -> [Int?] {
    [(row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)].map {
      row,
      column in
      (0..<size).contains(row) && (0..<size).contains(column) ? row * size + column : nil
    }
  }

  private static func relaxed(_ value: Double, _ neighbours: [Double?]) -> Double {
    // In the order of the directions: sums of floating-point numbers depend on it.
    omega / 4 * neighbours.reduce(0) { $0 + ($1 ?? 0) } + (1 - omega) * value
  }

  /// Each cell an actor; black ones begin when they have heard of all the red ones around them.
  private static func relax(
    _ stage: SavinaStage,
    _ table: [Double],
    size: Int,
    rounds: Int
  ) throws -> [Double] {
    let cells = (0..<(size * size)).map { number in
      stage.actor("cell \(number / size) \(number % size)", of: Cell.self) { mailbox in
        let isRed = (number / size + number % size).isMultiple(of: 2)
        var value = table[number]
        var heard: [Double?] = [nil, nil, nil, nil]
        var start: ([MessageActor<Cell>?], Reply<Double>)?
        func receive() throws {
          switch try mailbox.receive() {
          case .start(let neighbours, let reply): start = (neighbours, reply)
          case .value(let value, let direction):
            try SavinaFailure.unless(heard[direction] == nil, "a neighbour is a round ahead")
            heard[direction] = value
          }
        }
        while start == nil { try receive() }
        guard let (neighbours, reply) = start else { return }
        let count = neighbours.count { $0 != nil }
        func send() throws {
          for (direction, neighbour) in neighbours.enumerated() {
            try neighbour?.tell(.value(value, from: (direction + 2) % 4))
          }
        }
        if isRed { try send() }
        for round in 0..<rounds {
          while heard.count(where: { $0 != nil }) < count { try receive() }
          value = relaxed(value, heard)
          heard = [nil, nil, nil, nil]
          // Nobody waits for the last values of the red ones.
          if !isRed || round < rounds - 1 { try send() }
        }
        reply(value)
      }
    }
    return try cells.indices
      .map { number in
        let around = neighbours(number / size, number % size, size: size).map {
          $0.map { cells[$0] }
        }
        return cells[number].ask { .start(around, $0) }
      }
      .map { try $0.await() }
  }

  private static func expectedRelaxed(_ table: [Double], size: Int, rounds: Int) -> [Double] {
    var table = table
    for half in 0..<(2 * rounds) {
      for number in table.indices where (number / size + number % size) % 2 != half % 2 {
        let around = neighbours(number / size, number % size, size: size)
        table[number] = relaxed(table[number], around.map { $0.map { table[$0] } })
      }
    }
    return table
  }

  private static func table(_ size: Int) -> [Double] {
    var random = SavinaRandom(seed: 10)
    return (0..<(size * size)).map { _ in Double.random(in: 0..<1, using: &random) }
  }

  @Test(arguments: SavinaPlace.all)
  func `over-relaxation: cells that hear of their neighbours do what red and black sweeps do`(
    place: SavinaPlace
  ) throws {
    let table = Self.table(8)
    let result = try SavinaStage.run(place) { stage in
      try Self.relax(stage, table, size: 8, rounds: 12)
    }
    #expect(result == Self.expectedRelaxed(table, size: 8, rounds: 12))
  }

  @Test func `over-relaxation: in many orders`() throws {
    let table = Self.table(3)
    let expected = Self.expectedRelaxed(table, size: 3, rounds: 2)
    try SavinaStage.exploreOrders { stage in
      let result = try Self.relax(stage, table, size: 3, rounds: 2)
      try SavinaFailure.unless(result == expected, "\(result)")
    }
  }
}
