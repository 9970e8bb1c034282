// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// A* Search and N-Queens: a master hands out work that makes more work.
@Suite(.timeLimit(.minutes(30))) struct SavinaSearchTests {
  // MARK: - A* Search

  /// A cube of nodes, with an edge to each node that is not nearer to the origin in any direction, by one at most.
  private struct Grid: Sendable {
    let side: Int

    var target: Int { side * side * side - 1 }

    func position(_ node: Int) -> [Int] { [node / side / side, node / side % side, node % side] }

    func neighbours(_ node: Int) -> [Int] {
      let position = position(node)
      return (1..<8).compactMap { step in
        let next = [position[0] + step / 4, position[1] + step / 2 % 2, position[2] + step % 2]
        return next.allSatisfy { $0 < side } ? (next[0] * side + next[1]) * side + next[2] : nil
      }
    }

    /// The length of an edge, 1 to 9.
    func length(_ from: Int, _ to: Int) -> Int { 1 + (from * 31 + to * 17) % 97 % 9 }

    /// No way to the target is shorter.
    func atLeast(_ node: Int) -> Int { position(node).map { side - 1 - $0 }.max() ?? 0 }
  }

  private struct Way: Sendable {
    let node: Int
    let length: Int
  }

  private enum Map {
    /// Answered with those ways that are the shortest so far, and might lead to the target.
    case improve(from: Int, [Way], Reply<[Way]>)
    case path(Reply<(nodes: [Int], length: Int)?>)
  }

  private enum SearchMaster {
    case search(Reply<Void>)
    case work(Way)
    case done
  }

  private static func map(_ stage: SavinaStage, _ grid: Grid) -> MessageActor<Map> {
    stage.actor("map") { mailbox in
      var lengths = [0: 0]
      var parents: [Int: Int] = [:]
      for message in mailbox {
        switch message {
        case .improve(let parent, let ways, let reply):
          let better = ways.filter { way in
            let best = lengths[grid.target] ?? .max
            return way.length < lengths[way.node] ?? .max
              && way.length + grid.atLeast(way.node) < best
          }
          for way in better {
            lengths[way.node] = way.length
            parents[way.node] = parent
          }
          reply(better)
        case .path(let reply):
          guard let length = lengths[grid.target] else {
            reply(nil)
            continue
          }
          var path = [grid.target]
          while let last = path.last, let parent = parents[last] { path.append(parent) }
          reply((nodes: path.reversed(), length: length))
        }
      }
    }
  }

  /// Goes on from a way, the most promising first; after so many nodes, gives what is left back.
  private static func searcher(
    _ stage: SavinaStage,
    _ number: Int,
    _ grid: Grid,
    map: MessageActor<Map>,
    master: Mailbox<SearchMaster>
  ) -> MessageActor<Way> {
    stage.actor("searcher \(number)") { mailbox in
      for way in mailbox {
        var open = [way]
        for _ in 0..<12 {
          let next = open.indices.min {
            open[$0].length + grid.atLeast(open[$0].node)
              < open[$1].length + grid.atLeast(open[$1].node)
          }
          guard let next else { break }
          let way = open.remove(at: next)
          let ways = grid.neighbours(way.node).map { neighbour in
            Way(node: neighbour, length: way.length + grid.length(way.node, neighbour))
          }
          open += try map.ask { .improve(from: way.node, ways, $0) }.await()
        }
        for way in open { try master.post(.work(way)) }
        try master.post(.done)
      }
    }
  }

  private static func search(
    _ stage: SavinaStage,
    _ grid: Grid,
    workers count: Int
  ) throws -> (nodes: [Int], length: Int)? {
    let map = map(stage, grid)
    let master = stage.actor("master", of: SearchMaster.self) { mailbox in
      let workers = (0..<count).map { searcher(stage, $0, grid, map: map, master: mailbox) }
      guard case .search(let reply) = try mailbox.receive() else {
        throw SavinaFailure("work before the task")
      }
      var (sent, completed) = (1, 0)
      try workers[0].tell(Way(node: 0, length: 0))
      while completed < sent {
        switch try mailbox.receive() {
        case .search: throw SavinaFailure("a second task")
        case .work(let way):
          try workers[sent % count].tell(way)
          sent += 1
        case .done: completed += 1
        }
      }
      for worker in workers { worker.stop() }
      reply()
    }
    try master.ask { .search($0) }.await()
    defer { map.stop() }
    return try map.ask { .path($0) }.await()
  }

  /// Edges never lead back, so one pass in the order of the numbers does it.
  private static func shortestLength(_ grid: Grid) -> Int {
    var lengths = [0: 0]
    for node in 0...grid.target {
      for neighbour in grid.neighbours(node) {
        let length = (lengths[node] ?? 0) + grid.length(node, neighbour)
        lengths[neighbour] = min(lengths[neighbour] ?? .max, length)
      }
    }
    return lengths[grid.target] ?? 0
  }

  private static func check(_ path: (nodes: [Int], length: Int)?, _ grid: Grid) throws {
    guard let (nodes, length) = path else { throw SavinaFailure("no path") }
    try SavinaFailure.unless(
      nodes.first == 0 && nodes.last == grid.target,
      "a path between other nodes"
    )
    var sum = 0
    for (from, to) in zip(nodes, nodes.dropFirst()) {
      try SavinaFailure.unless(grid.neighbours(from).contains(to), "no edge \(from) \(to)")
      sum += grid.length(from, to)
    }
    try SavinaFailure.unless(sum == length, "a path of \(sum), not of \(length)")
    try SavinaFailure.unless(length == shortestLength(grid), "\(length) is not the shortest")
  }

  @Test(arguments: SavinaPlace.all)
  func `a star: workers with one map find a shortest path`(place: SavinaPlace) throws {
    let grid = Grid(side: 5)
    let path = try SavinaStage.run(place) { stage in try Self.search(stage, grid, workers: 4) }
    try Self.check(path, grid)
  }

  @Test func `a star: in many orders`() throws {
    let grid = Grid(side: 2)
    try SavinaStage.exploreOrders { stage in
      try Self.check(Self.search(stage, grid, workers: 2), grid)
    }
  }

  // MARK: - N-Queens first N solutions

  private enum QueensMaster {
    case solve(Reply<[[Int]]>)
    case work([Int])
    case solution([Int])
    case done
  }

  private static func isFree(_ column: Int, after queens: [Int]) -> Bool {
    queens.enumerated().allSatisfy { row, other in
      other != column && abs(other - column) != queens.count - row
    }
  }

  private static func placer(
    _ stage: SavinaStage,
    _ number: Int,
    size: Int,
    threshold: Int,
    master: Mailbox<QueensMaster>
  ) -> MessageActor<[Int]> {
    stage.actor("placer \(number)") { mailbox in
      func place(_ queens: [Int]) throws {
        if queens.count == size {
          try master.post(.solution(queens))
          return
        }
        for column in 0..<size where isFree(column, after: queens) {
          let more = queens + [column]
          if queens.count < threshold { try master.post(.work(more)) } else { try place(more) }
        }
      }
      for queens in mailbox {
        try place(queens)
        try master.post(.done)
      }
    }
  }

  /// The first so many solutions that were found; all of them if there are not so many.
  private static func queens(
    _ stage: SavinaStage,
    size: Int,
    limit: Int,
    workers count: Int,
    threshold: Int
  ) throws -> [[Int]] {
    let master = stage.actor("master", of: QueensMaster.self) { mailbox in
      let workers = (0..<count).map {
        placer(stage, $0, size: size, threshold: threshold, master: mailbox)
      }
      guard case .solve(let reply) = try mailbox.receive() else {
        throw SavinaFailure("work before the task")
      }
      var solutions: [[Int]] = []
      var (sent, completed) = (1, 0)
      try workers[0].tell([])
      while completed < sent, solutions.count < limit {
        switch try mailbox.receive() {
        case .solve: throw SavinaFailure("a second task")
        case .work(let queens):
          try workers[sent % count].tell(queens)
          sent += 1
        case .solution(let queens): solutions.append(queens)
        case .done: completed += 1
        }
      }
      // They may have work left, and may be telling the master about it until they have ended.
      for worker in workers { try worker.cancelAndJoin() }
      reply(solutions)
    }
    return try master.ask { .solve($0) }.await()
  }

  /// All boards with a queen in each column, tried one after the other.
  private static func allSolutions(_ size: Int) -> Set<[Int]> {
    func arrangements(_ left: [Int]) -> [[Int]] {
      left.isEmpty
        ? [[]] : left.flatMap { one in arrangements(left.filter { $0 != one }).map { [one] + $0 } }
    }
    return Set(
      arrangements(Array(0..<size)).filter { queens in
        Set(queens.enumerated().map { $0 + $1 }).count == size
          && Set(queens.enumerated().map { $0 - $1 }).count == size
      }
    )
  }

  private static let solutionsOfSeven = allSolutions(7)

  @Test(arguments: SavinaPlace.all, [3, 40, 1000])
  func `queens: workers find the first so many solutions, or all`(
    place: SavinaPlace,
    limit: Int
  ) throws {
    let all = Self.solutionsOfSeven
    let solutions = try SavinaStage.run(place) { stage in
      try Self.queens(stage, size: 7, limit: limit, workers: 4, threshold: 3)
    }
    #expect(all.count == 40)
    #expect(solutions.count == min(limit, all.count))
    #expect(Set(solutions).count == solutions.count)
    #expect(Set(solutions).isSubset(of: all))
  }

  @Test(arguments: [1, 2, 9])
  func `queens: in many orders`(limit: Int) throws {
    let all = Self.allSolutions(4)
    try SavinaStage.exploreOrders { stage in
      let solutions = try Self.queens(stage, size: 4, limit: limit, workers: 2, threshold: 2)
      try SavinaFailure.unless(Set(solutions).isSubset(of: all), "\(solutions)")
      try SavinaFailure.unless(solutions.count == min(limit, all.count), "\(solutions)")
    }
  }
}
