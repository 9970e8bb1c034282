// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Unbalanced Cobwebbed Tree and Online Facility Location: trees that grow where they have to.
@Suite(.timeLimit(.minutes(30))) struct SavinaTreeTests {
  // MARK: - Unbalanced Cobwebbed Tree

  /// Leave to have children, whose numbers follow one another.
  private struct Grant: Sendable {
    let first: Int
    let urgent: Int?
  }

  private struct Growth: Sendable {
    var size = 1
    var height = 1
    /// The parents of the urgent nodes.
    var parents: [Int: Int] = [:]
  }

  private enum Root {
    case mayGrow(number: Int, height: Int, Reply<Grant?>)
    /// Answered when every node has had its answer.
    case growth(Reply<Growth>)
  }

  private struct Visit: Sendable {
    var order: [Int]
    var height: Int
  }

  private enum Node {
    case grow
    case visit(Reply<Visit>)
    case end
  }

  private static let branching = 4

  /// Decides who has children; what it decides depends on how many have asked, not on who.
  private struct Decider {
    private let limit: Int
    private var random = SavinaRandom(seed: 9)

    init(limit: Int) { self.limit = limit }

    /// The place of the urgent child, if one is; nil if there are to be no children.
    mutating func next(size: Int) -> Int?? {
      let isGranted = Int.random(in: 0..<5, using: &random) < 3
      let urgent = Int.random(in: 0..<(2 * branching), using: &random)
      guard size + branching <= limit, isGranted || size == 1 else { return .none }
      return .some(urgent < branching ? urgent : nil)
    }
  }

  private static func root(_ stage: SavinaStage, limit: Int) -> MessageActor<Root> {
    stage.actor("root") { mailbox in
      var growth = Growth()
      var decider = Decider(limit: limit)
      var requestsLeft = 1
      var asked: Reply<Growth>?
      for message in mailbox {
        switch message {
        case .growth(let reply): asked = reply
        case .mayGrow(let number, let height, let reply):
          requestsLeft -= 1
          if let urgent = decider.next(size: growth.size) {
            let grant = Grant(first: growth.size, urgent: urgent.map { growth.size + $0 })
            if let urgent = grant.urgent { growth.parents[urgent] = number }
            growth.size += branching
            growth.height = max(growth.height, height + 1)
            requestsLeft += branching
            reply(grant)
          } else {
            reply(nil)
          }
        }
        if requestsLeft == 0 { asked?(growth) }
      }
    }
  }

  private static func node(
    _ stage: SavinaStage,
    _ number: Int,
    height: Int,
    root: MessageActor<Root>
  ) -> MessageActor<Node> {
    stage.actor("node \(number)") { mailbox in
      var children: [MessageActor<Node>] = []
      for message in mailbox {
        switch message {
        case .grow:
          guard
            let grant = try root.ask({ .mayGrow(number: number, height: height, $0) }).await()
          else { continue }
          children = (0..<branching).map { place in
            node(stage, grant.first + place, height: height + 1, root: root)
          }
          for child in children { try child.tell(.grow) }
          // Visited first from now on.
          if let urgent = grant.urgent {
            children.insert(children.remove(at: urgent - grant.first), at: 0)
          }
        case .visit(let reply):
          var visit = Visit(order: [number], height: height)
          let visits = children.map { child in child.ask { .visit($0) } }
          for promise in visits {
            let below = try promise.await()
            visit.order += below.order
            visit.height = max(visit.height, below.height)
          }
          reply(visit)
        case .end:
          for child in children { try child.tell(.end) }
          return
        }
      }
    }
  }

  private static func growAndVisit(
    _ stage: SavinaStage,
    limit: Int
  ) throws -> (growth: Growth, visit: Visit) {
    let root = root(stage, limit: limit)
    let top = node(stage, 0, height: 1, root: root)
    try top.tell(.grow)
    let growth = try root.ask { .growth($0) }.await()
    let visit = try top.ask { .visit($0) }.await()
    try top.tell(.end)
    root.stop()
    return (growth, visit)
  }

  private static func expectedSize(limit: Int) -> Int {
    var decider = Decider(limit: limit)
    var (size, requestsLeft) = (1, 1)
    while requestsLeft > 0 {
      requestsLeft -= 1
      guard decider.next(size: size) != nil else { continue }
      (size, requestsLeft) = (size + branching, requestsLeft + branching)
    }
    return size
  }

  private static func check(_ growth: Growth, _ visit: Visit, limit: Int) throws {
    try SavinaFailure.unless(growth.size == expectedSize(limit: limit), "\(growth.size) nodes")
    try SavinaFailure.unless(visit.order.sorted() == Array(0..<growth.size), "not each node once")
    try SavinaFailure.unless(visit.height == growth.height, "a height of \(visit.height)")
    for (urgent, parent) in growth.parents {
      let place = visit.order.firstIndex(of: urgent) ?? 0
      try SavinaFailure.unless(
        place > 0 && visit.order[place - 1] == parent,
        "\(urgent) is urgent and was not next"
      )
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `cobwebbed tree: every node that was granted is visited once, urgent ones first`(
    place: SavinaPlace
  ) throws {
    let (growth, visit) = try SavinaStage.run(place) { stage in
      try Self.growAndVisit(stage, limit: 300)
    }
    try Self.check(growth, visit, limit: 300)
    #expect(growth.size > 250)
    #expect(!growth.parents.isEmpty)
  }

  @Test func `cobwebbed tree: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      let (growth, visit) = try Self.growAndVisit(stage, limit: 13)
      try Self.check(growth, visit, limit: 13)
    }
  }

  // MARK: - Online Facility Location

  private struct Point: Sendable, Hashable {
    let x: Int
    let y: Int

    func distance(to other: Point) -> Double {
      Double((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
  }

  private struct Box: Sendable, Hashable {
    let x: Range<Int>
    let y: Range<Int>

    var middle: Point {
      Point(x: (x.lowerBound + x.upperBound) / 2, y: (y.lowerBound + y.upperBound) / 2)
    }

    /// The four parts; the one that touches part n at the middle only is 3 - n.
    var quarters: [Box] {
      let (left, right) = (x.lowerBound..<middle.x, middle.x..<x.upperBound)
      let (low, high) = (y.lowerBound..<middle.y, middle.y..<y.upperBound)
      return [
        Box(x: left, y: low), Box(x: right, y: low), Box(x: left, y: high), Box(x: right, y: high),
      ]
    }

    func contains(_ point: Point) -> Bool { x.contains(point.x) && y.contains(point.y) }
  }

  private struct Leaf: Sendable, Hashable {
    let box: Box
    let customers: [Point]
    let cost: Double
  }

  private struct Survey: Sendable, Equatable {
    var leaves: [Leaf] = []
    /// Facilities that were opened.
    var facilities = 0
    /// Facilities that the top quadrant has heard of.
    var known = 0
    /// Messages about facilities in the quadrant across.
    var notices = 0
  }

  private enum Quadrant {
    case customer(Point)
    /// A facility was opened in the quarter at this place.
    case opened(place: Int)
    /// A facility was opened in the quadrant across.
    case openedAcross
    /// What has been opened is to be known everywhere; the top one answers.
    case settle(Reply<Void>?)
    case settled
    case finish(Reply<Survey>)
  }

  private static let threshold = 1500.0
  private static let deepest = 6

  private static func quadrant(
    _ stage: SavinaStage,
    _ box: Box,
    depth: Int,
    place: Int,
    parent: Mailbox<Quadrant>?,
    facilities above: [Point],
    customers inherited: [Point]
  ) -> MessageActor<Quadrant> {
    stage.actor("quadrant \(box.x) \(box.y)") { mailbox in
      let facilities = above + [box.middle]
      var children: [MessageActor<Quadrant>] = []
      var customers: [Point] = []
      var cost = 0.0
      var (known, notices) = (0, 0)
      var settling: (childrenLeft: Int, reply: Reply<Void>?) = (0, nil)

      func add(_ customer: Point) {
        customers.append(customer)
        cost += facilities.map { customer.distance(to: $0) }.min() ?? 0
      }
      func endSettling() throws {
        try parent?.post(.settled)
        settling.reply?()
      }
      for customer in inherited where box.contains(customer) { add(customer) }

      for message in mailbox {
        switch message {
        case .customer(let customer):
          if !children.isEmpty {
            let place = box.quarters.firstIndex { $0.contains(customer) }
            guard let place else { throw SavinaFailure("a customer in no quarter") }
            try children[place].tell(.customer(customer))
            continue
          }
          add(customer)
          guard cost > threshold, depth < deepest else { continue }
          known += 1
          try parent?.post(.opened(place: place))
          let moving = customers
          children = box.quarters.enumerated().map { place, quarter in
            quadrant(
              stage,
              quarter,
              depth: depth + 1,
              place: place,
              parent: mailbox,
              facilities: facilities,
              customers: moving
            )
          }
          (customers, cost) = ([], 0)
        case .opened(let quarter):
          known += 1
          try children[3 - quarter].tell(.openedAcross)
          try parent?.post(.opened(place: place))
        case .openedAcross: notices += 1
        case .settle(let reply):
          for child in children { try child.tell(.settle(nil)) }
          settling = (children.count, reply)
          if children.isEmpty { try endSettling() }
        case .settled:
          // What the quarter has opened came ahead of this.
          settling.childrenLeft -= 1
          if settling.childrenLeft == 0 { try endSettling() }
        case .finish(let reply):
          var survey = Survey(known: known, notices: notices)
          if children.isEmpty {
            survey.leaves = [Leaf(box: box, customers: customers, cost: cost)]
          } else {
            survey.facilities = 1
          }
          let surveys = children.map { child in child.ask { .finish($0) } }
          for promise in surveys {
            let below = try promise.await()
            survey.leaves += below.leaves
            survey.facilities += below.facilities
            survey.notices += below.notices
          }
          reply(survey)
          return
        }
      }
    }
  }

  private static let whole = Box(x: 0..<1024, y: 0..<1024)

  private static func customers(_ count: Int) -> [Point] {
    var random = SavinaRandom(seed: 77)
    // Denser towards a corner, so that the tree is not balanced.
    func coordinate() -> Int {
      Int.random(in: 0..<1024, using: &random) * Int.random(in: 0..<1024, using: &random) / 1024
    }
    return (0..<count).map { _ in Point(x: coordinate(), y: coordinate()) }
  }

  private static func locate(_ stage: SavinaStage, _ customers: [Point]) throws -> Survey {
    let top = quadrant(
      stage,
      whole,
      depth: 0,
      place: 0,
      parent: nil,
      facilities: [],
      customers: []
    )
    for customer in customers { try top.tell(.customer(customer)) }
    try top.ask { .settle($0) }.await()
    return try top.ask { .finish($0) }.await()
  }

  /// The same for one box at a time: a list of its customers is cut in two where its costs are too high.
  private static func expected(
    _ box: Box,
    depth: Int,
    facilities above: [Point],
    inherited: [Point],
    later: [Point]
  ) -> Survey {
    let facilities = above + [box.middle]
    let mine = inherited.filter(box.contains)
    func cost(_ customers: [Point]) -> Double {
      customers.reduce(0) { sum, customer in
        sum + (facilities.map { customer.distance(to: $0) }.min() ?? 0)
      }
    }
    let coming = later.filter(box.contains)
    let cut =
      depth == deepest ? nil : coming.indices.first { cost(mine + coming[...$0]) > threshold }
    guard let cut else {
      let all = mine + coming
      return Survey(leaves: [Leaf(box: box, customers: all, cost: cost(all))])
    }
    return box.quarters.reduce(into: Survey(facilities: 1, notices: depth)) { survey, quarter in
      let below = expected(
        quarter,
        depth: depth + 1,
        facilities: facilities,
        inherited: mine + coming[...cut],
        later: Array(coming[(cut + 1)...])
      )
      survey.leaves += below.leaves
      survey.facilities += below.facilities
      // One for each quadrant that a facility lies in.
      survey.notices += below.notices
    }
  }

  private static func check(_ survey: Survey, _ customers: [Point]) throws {
    var wanted = expected(whole, depth: 0, facilities: [], inherited: [], later: customers)
    wanted.known = wanted.facilities
    try SavinaFailure.unless(survey == wanted, "\(survey)\ninstead of\n\(wanted)")
    try SavinaFailure.unless(
      survey.leaves.flatMap(\.customers).count == customers.count,
      "a customer is lost"
    )
    try SavinaFailure.unless(survey.leaves.count == 3 * survey.facilities + 1, "not by four")
  }

  @Test(arguments: SavinaPlace.all)
  func `facility location: the tree is the one that the customers' order gives`(
    place: SavinaPlace
  ) throws {
    let customers = Self.customers(150)
    let survey = try SavinaStage.run(place) { stage in try Self.locate(stage, customers) }
    try Self.check(survey, customers)
    #expect(survey.facilities > 5)
  }

  @Test func `facility location: in many orders`() throws {
    let customers = Self.customers(16)
    try SavinaStage.exploreOrders(runs: 60) { stage in
      let survey = try Self.locate(stage, customers)
      try Self.check(survey, customers)
      try SavinaFailure.unless(survey.facilities > 1, "nothing to tell one another")
    }
  }
}
