// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What each step does, and what must come of it.
extension FuzzRun {
  func perform(_ step: FuzzStep, _ member: FuzzMember) throws {
    switch step {
    case .send(let index): try send(to: index, member)
    case .sendIfReady(let index): sendIfReady(to: index)
    case .receive(let index): _ = try receive(from: index, member)
    case .receiveIfReady(let index): receiveIfReady(from: index)
    case .receiveAll(let index): try receiveAll(from: index, member)
    case .receiveSome(let index, let count): try receive(count, from: index, member)
    case .receiveUntilClosed(let index): while try receive(from: index, member) {}
    case .close(let index): close(index)
    case .look(let index): checkCount(of: index)
    case .select(let clauses): try select(among: clauses, member)
    case .sleep(let time): try sleep(time, member)
    case .yield: try park(member, FuzzWait(operation: "yield")) { try Coroutine.yield() }
    case .limit(let time, let steps): try limit(time, steps, member)
    case .shield(let steps):
      letTimePass()
      member.enter(.shield, at: now)
      defer {
        letTimePass()
        member.leave()
      }
      try withCancellationShield { try perform(steps, member) }
    case .cancel(let index): cancel(root(index))
    case .join(let index, let cancels): try join(root(index), cancels: cancels, member)
    case .launch(let steps, let isImmediate): start(steps, isImmediate, member)
    case .scope(let children, let steps): try scope(children, steps, member)
    case .repeated(let count, let steps):
      for _ in 0..<count { try perform(steps, member) }
    case .fulfill(let index): settle(index, fulfilling: true)
    case .reject(let index): settle(index, fulfilling: false)
    case .cancelPromise(let index): cancelPromise(index)
    case .await(let index, let cancels): try awaitPromise(index, cancelsPromise: cancels, member)
    case .observe(let index): observe(index)
    case .work(let times, let combination): try work(times, combination, member)
    }
  }

  // MARK: - Sending

  private func send(to index: Int, _ member: FuzzMember) throws {
    let model = channels[index]
    let parcel = offer(to: index)
    let number = parcel.number
    var returned = 0
    let wasClosed = model.isClosed
    do {
      try park(
        member,
        FuzzWait(operation: "send to \(index)", sends: [index]),
        isInstant: model.drops || model.channel.count < model.plan.limit
      ) {
        try model.channel.send(parcel) { back in
          returned += 1
          if back.number != number { self.complain("\(number) was sent, \(back.number) came back") }
        }
        // At once: nobody has run since.
        if model.drops { keep(number, in: index) } else { conclude(number, .sent) }
      }
      if returned != 0 { complain("value \(number) was sent, and given back") }
      if wasClosed { complain("channel \(index) is closed, and took a value") }
    } catch {
      conclude(number, .refused)
      if returned != 1 { complain("value \(number) was given back \(returned) times") }
      try checkRefusal(error, index)
    }
  }

  /// `ChannelError.closed` needs a closed channel; all else is thrown on.
  private func checkRefusal(_ error: any Error, _ index: Int) throws {
    guard error as? ChannelError == .closed else { throw error }
    if !channels[index].isClosed { complain("channel \(index) is said to be closed") }
  }

  private func sendIfReady(to index: Int) {
    let model = channels[index]
    let count = model.channel.count
    let parcel = offer(to: index)
    let number = parcel.number
    switch model.channel.sendIfReady(parcel) {
    case .sent:
      if model.isClosed { complain("channel \(index) is closed, and took a value") }
      keep(number, in: index)
      if parcels[number].fate == .dropped { complain("\(number) was dropped, and said to be sent") }
    case .full(let back):
      if back.number != number { complain("\(number) was sent, \(back.number) came back") }
      if count < model.plan.limit { complain("channel \(index) has room, and took nothing") }
      if model.isClosed { complain("channel \(index) is closed, and said to be full") }
      if model.plan.policy == .dropOldest { complain("channel \(index) did not make room") }
      conclude(number, .refused)
    case .closed(let back):
      if back.number != number { complain("\(number) was sent, \(back.number) came back") }
      if !model.isClosed { complain("channel \(index) is said to be closed") }
      conclude(number, .refused)
    }
  }

  // MARK: - Receiving

  /// - Returns: False if the channel is closed.
  private func receive(from index: Int, _ member: FuzzMember) throws -> Bool {
    let model = channels[index]
    let count = model.channel.count
    let isReady = count > 0 || model.isClosed
    let began = tick()
    do {
      let number = try park(
        member,
        FuzzWait(operation: "receive from \(index)", receives: [index]),
        isInstant: isReady
      ) { try model.channel.receive().number }
      if count > 0 { unkeep(number, from: index) }
      receive(number, from: index, began: began, isOrdered: true)
      return true
    } catch {
      try checkRefusal(error, index)
      if count > 0 { complain("channel \(index) has a value, and did not give it") }
      return false
    }
  }

  private func receiveIfReady(from index: Int) {
    let model = channels[index]
    let count = model.channel.count
    let began = tick()
    switch model.channel.receiveIfReady() {
    case .received(let parcel):
      if count > 0 { unkeep(parcel.number, from: index) }
      receive(parcel.number, from: index, began: began, isOrdered: true)
    case .empty:
      if count > 0 || model.isClosed { complain("channel \(index) is said to be empty") }
    case .closed:
      if count > 0 || !model.isClosed { complain("channel \(index) is said to be closed") }
    }
  }

  private func receiveAll(from index: Int, _ member: FuzzMember) throws {
    let model = channels[index]
    let count = model.channel.count
    let began = tick()
    do {
      let numbers = try park(
        member,
        FuzzWait(operation: "receiveAll from \(index)", receives: [index]),
        isInstant: count > 0 || model.isClosed
      ) { try model.channel.receiveAll().map(\.number) }
      if numbers.isEmpty { complain("receiveAll came with nothing") }
      if model.channel.count > 0 { complain("receiveAll left something") }
      for (place, number) in numbers.enumerated() {
        // The first was waited for; the others were taken now.
        receive(number, from: index, began: place == 0 ? began : tick(), isOrdered: true)
      }
      guard model.drops else { return }
      // What was there when it went on: not the one that was handed over, if it waited.
      for number in count > 0 ? numbers[...] : numbers.dropFirst() {
        guard let kept = model.kept.first, kept == number else {
          complain("channel \(index) gave \(number), not \(model.kept)")
          return
        }
        model.kept.removeFirst()
      }
      checkCount(of: index)
    } catch {
      try checkRefusal(error, index)
    }
  }

  private func receive(_ count: Int, from index: Int, _ member: FuzzMember) throws {
    let model = channels[index]
    // Between the first and the last others run: what the channel kept meanwhile is not known.
    guard !model.drops else {
      for _ in 0..<count { _ = try receive(from: index, member) }
      return
    }
    func take(_ numbers: [Int]) {
      for number in numbers { receive(number, from: index, began: 0, isOrdered: false) }
      for (one, next) in zip(numbers, numbers.dropFirst())
      where parcels[one].offeredAt >= parcels[next].offeredAt {
        complain("channel \(index): value \(next) overtook \(one)")
      }
    }
    do {
      let numbers = try park(
        member,
        FuzzWait(operation: "receive \(count) from \(index)", receives: count == 0 ? [] : [index]),
        isInstant: count == 0 || model.channel.count >= count
      ) {
        do {
          return try model.channel.receive(count: count).map(\.number)
        } catch let error as PartialReceiveError<Parcel> {
          if error.received.isEmpty || error.received.count >= count {
            complain("\(error.received.count) of \(count) values are called a part")
          }
          take(error.received.map(\.number))
          throw error.reason
        }
      }
      if numbers.count != count { complain("\(numbers.count) values came, not \(count)") }
      take(numbers)
    } catch {
      try checkRefusal(error, index)
    }
  }

  // MARK: - Time and scopes

  private func sleep(_ time: Int, _ member: FuzzMember) throws {
    let end = now + Int64(time) * 1000
    try park(member, FuzzWait(operation: "sleep", isTimed: true)) {
      try Coroutine.sleep(for: .microseconds(time))
    }
    if now != end { complain("a sleep of \(time) µs ended \(now - end) ns late") }
  }

  private func limit(_ time: Int, _ steps: [FuzzStep], _ member: FuzzMember) throws {
    let deadline = now + Int64(time) * 1000
    letTimePass()
    member.enter(.limit(deadline), at: now)
    do {
      defer {
        letTimePass()
        member.leave()
      }
      try withTimeout(.microseconds(time)) { try perform(steps, member) }
    } catch let error as TimeoutError {
      if error.limit != .microseconds(time) { complain("the wrong limit was told: \(error)") }
      if now < deadline { complain("a limit of \(time) µs was over \(deadline - now) ns early") }
      if member.mustBeCancelled {
        complain("\(member.name) was cancelled, and told that its time was over")
      }
    }
  }

  private func join(_ other: FuzzMember, cancels: Bool, _ member: FuzzMember) throws {
    guard let handle = other.handle, other !== member else { return }
    if cancels { cancel(other) }
    try park(
      member,
      FuzzWait(operation: "join", members: [other]),
      isInstant: other.hasEnded
    ) { try handle.join() }
    if !other.hasEnded { complain("a join ended before \(other.name)") }
  }

  private func start(_ steps: [FuzzStep], _ isImmediate: Bool, _ parent: FuzzMember) {
    letTimePass()
    let member = enlist(isStubborn: parent.isStubborn)
    parent.adopt(member)
    _ = tick()
    watch(
      member,
      launch(name: member.name, start: isImmediate ? .immediately : .queued) {
        self.run(member, steps)
      }
    )
  }

  private func scope(_ children: [[FuzzStep]], _ steps: [FuzzStep], _ parent: FuzzMember) throws {
    var members: [FuzzMember] = []
    defer {
      parent.wait = nil
      for member in members where !member.hasEnded {
        complain("a scope ended before \(member.name)")
      }
    }
    letTimePass()
    parent.enter(.scope, at: now)
    defer {
      letTimePass()
      parent.leave()
    }
    try withCoroutineScope { scope in
      for steps in children {
        let member = enlist(isStubborn: parent.isStubborn)
        parent.adopt(member)
        members.append(member)
        watch(member, scope.launch(name: member.name) { self.run(member, steps) })
      }
      defer {
        parent.wait = FuzzWait(operation: "a scope", members: members, isUninterrupted: true)
      }
      do {
        try perform(steps, parent)
      } catch {
        // An error cancels the scope.
        letTimePass()
        if let block = parent.blocks.last { parent.cancel(block) }
        throw error
      }
    }
  }
}
