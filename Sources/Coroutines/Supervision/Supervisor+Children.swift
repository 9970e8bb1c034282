// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension Supervisor {
  // MARK: - Bodies

  /// Adds a child that is a body, on the scheduler of the code that adds it.
  ///
  /// Its turn comes when those that were added before have had theirs. Does not park.
  ///
  /// - Parameters:
  ///   - name: For errors and events.
  ///   - restart: When it is restarted.
  ///   - shutdown: How long it may take to end once it is cancelled.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is added; leave out.
  ///   - line: Where it is added; leave out.
  ///   - body: What it does, each time from the beginning.
  /// - Returns: The child.
  @discardableResult
  public func launch(
    name: String,
    restart: ChildRestart = .permanent,
    shutdown: Duration = .seconds(5),
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping () throws -> Void
  ) -> SupervisedChild {
    let site = SourceSite(file: file, line: line)
    return add(name, restart, shutdown, .current, stackSize, site, SupervisedBody(body))
  }

  /// Adds a child that is a body, on a given scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: Where it runs.
  ///   - name: For errors and events.
  ///   - restart: When it is restarted.
  ///   - shutdown: How long it may take to end once it is cancelled.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is added; leave out.
  ///   - line: Where it is added; leave out.
  ///   - body: What it does, each time from the beginning.
  /// - Returns: The child.
  @discardableResult
  public func launch(
    on scheduler: Scheduler,
    name: String,
    restart: ChildRestart = .permanent,
    shutdown: Duration = .seconds(5),
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: sending @escaping () throws -> Void
  ) -> SupervisedChild {
    let site = SourceSite(file: file, line: line)
    return add(name, restart, shutdown, scheduler, stackSize, site, SupervisedBody(body))
  }

  // MARK: - Actors

  /// Adds a child that is an actor, on the scheduler of the code that adds it.
  ///
  /// Its mailbox stays through all restarts, and takes messages from the beginning. Dropping the handle does not end
  /// it: the supervisor has one.
  ///
  /// - Parameters:
  ///   - type: The type of its messages, where it cannot be seen.
  ///   - name: For errors and events.
  ///   - restart: When it is restarted; one that is stopped by `stop` or `cancel` never is.
  ///   - capacity: What its mailbox keeps.
  ///   - shutdown: How long it may take to end once it is cancelled.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is added; leave out.
  ///   - line: Where it is added; leave out.
  ///   - body: What it does, each time from the beginning; gets the mailbox.
  /// - Returns: The actor.
  public func actor<Message>(
    of type: Message.Type = Message.self,
    name: String,
    restart: ChildRestart = .permanent,
    capacity: MailboxCapacity = .unbounded,
    shutdown: Duration = .seconds(5),
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Mailbox<Message>) throws -> Void
  ) -> MessageActor<Message> {
    let site = SourceSite(file: file, line: line)
    let actor = MessageActor<Message>(unstarted: name, capacity, site)
    let part = SupervisedActor(actor, body)
    _ = add(name, restart, shutdown, .current, stackSize, site, part)
    return actor
  }

  /// Adds a child that is an actor, on a given scheduler.
  ///
  /// - Parameters:
  ///   - type: The type of its messages, where it cannot be seen.
  ///   - scheduler: Where it runs.
  ///   - name: For errors and events.
  ///   - restart: When it is restarted; one that is stopped by `stop` or `cancel` never is.
  ///   - capacity: What its mailbox keeps.
  ///   - shutdown: How long it may take to end once it is cancelled.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is added; leave out.
  ///   - line: Where it is added; leave out.
  ///   - body: What it does, each time from the beginning; gets the mailbox.
  /// - Returns: The actor.
  public func actor<Message>(
    of type: Message.Type = Message.self,
    on scheduler: Scheduler,
    name: String,
    restart: ChildRestart = .permanent,
    capacity: MailboxCapacity = .unbounded,
    shutdown: Duration = .seconds(5),
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: sending @escaping (Mailbox<Message>) throws -> Void
  ) -> MessageActor<Message> {
    let site = SourceSite(file: file, line: line)
    let actor = MessageActor<Message>(unstarted: name, capacity, site)
    let part = SupervisedActor(actor, body)
    _ = add(name, restart, shutdown, scheduler, stackSize, site, part)
    return actor
  }

  // MARK: - Supervisors

  /// Adds a child that is a supervisor itself, on the scheduler of the code that adds it.
  ///
  /// Its children are added to the supervisor that this returns. When it gives up, this supervisor decides as about any
  /// child; when it is restarted, it starts its children again, in their order, but for the temporary ones.
  ///
  /// - Parameters:
  ///   - name: For errors and events.
  ///   - restart: When it is restarted.
  ///   - strategy: Who of its children is restarted when one is.
  ///   - intensity: How often, before it gives up.
  ///   - backoff: How long it waits before a restart.
  ///   - shutdown: How long it may take to stop its children.
  ///   - file: Where it is added; leave out.
  ///   - line: Where it is added; leave out.
  ///   - decide: What it does about an error of a child that may be restarted; must not park.
  /// - Returns: The supervisor.
  public func supervisor(
    name: String,
    restart: ChildRestart = .permanent,
    strategy: SupervisionStrategy = .oneForOne,
    intensity: RestartIntensity = .default,
    backoff: RestartBackoff = .none,
    shutdown: Duration = .seconds(60),
    file: StaticString = #fileID,
    line: UInt = #line,
    decide: @escaping (ChildFailure) -> SupervisionDirective = { _ in .restart }
  ) -> Supervisor {
    let site = SourceSite(file: file, line: line)
    let core = SupervisorCore(
      name: name,
      site: site,
      isRoot: false,
      strategy,
      intensity,
      backoff,
      decide
    )
    _ = add(name, restart, shutdown, .current, .default, site, core)
    return Supervisor(core)
  }

  private func add(
    _ name: String,
    _ restart: ChildRestart,
    _ shutdown: Duration,
    _ scheduler: Scheduler,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ part: any SupervisedPart
  ) -> SupervisedChild {
    let child = SupervisedChild(name, restart, shutdown, scheduler, stackSize, site, part)
    core.add(child)
    return child
  }
}
