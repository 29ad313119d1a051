// Calls and asks all delegates.

internal import DarwinNotifySupport

extension MulticastDelegate {
  /// Calls a closure with each delegate, at its place.
  ///
  ///     events.each { $0.didSeek(to: 3) }
  ///
  /// It returns at once, unless a delegate has `.inline` or is called in place. Dead delegates are
  /// skipped.
  ///
  /// - Parameter event: calls a method of the delegate.
  @inlinable public func each(_ event: @escaping @Sendable (Delegate) -> Void) {
    var hasDead = false
    for (seat, holder) in entries {
      if seat.enter() {
        if let delegate = holder.current { event(delegate) } else { hasDead = true }
        seat.leave()
      } else {
        seat.post { if let delegate = holder.current { event(delegate) } }
      }
    }
    if hasDead { removeDead() }
  }

  /// Calls a closure of the main actor with each delegate.
  ///
  ///     screens.eachOnMainActor { $0.show("hello") }
  ///
  /// - Parameter event: calls a method that is isolated to the main actor. All delegates must have
  ///   been added with `.main`, or be called on it.
  public func eachOnMainActor(_ event: @escaping @MainActor @Sendable (Delegate) -> Void) {
    each(onMainActor(event))
  }

  /// Asks the delegates one after the other, on the caller's thread, until one has an answer.
  ///
  ///     let seconds = events.first { $0.position(of: 7) }
  ///
  /// The calls bypass the places of the delegates and may overlap with calls there; `firstAsync`
  /// asks at those places.
  ///
  /// - Parameter question: calls a method of the delegate. `nil` is no answer.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the closure throws; no further delegate is then asked.
  @inlinable public func first<Answer>(
    _ question: (Delegate) throws -> Answer?
  ) rethrows -> Answer? {
    for (seat, holder) in entries where seat.beginVisit() {
      defer { seat.endVisit() }
      if let delegate = holder.current, let answer = try question(delegate) {
        return answer
      }
    }
    return nil
  }

  /// Asks the delegates one after the other, each at its place, until one has an answer.
  ///
  /// It waits for each delegate in turn. A cancelled task asks no further delegates.
  ///
  /// - Parameter question: calls a method of the delegate. `nil` is no answer.
  /// - Returns: the first answer; `nil` if there is none.
  /// - Throws: what the closure throws; no further delegate is then asked.
  public func firstAsync<Answer: Sendable>(
    _ question: @escaping @Sendable (Delegate) throws -> Answer?
  ) async throws -> Answer? {
    for entry in entries {
      if let answer = try await ask(entry, question)?.get() { return answer }
    }
    return nil
  }

  /// The same with an asynchronous method.
  public func firstAsync<Answer: Sendable>(
    _ question: @escaping @Sendable (Delegate) async throws -> Answer?
  ) async throws -> Answer? {
    for entry in entries {
      if let answer = try await ask(entry, question)?.get() { return answer }
    }
    return nil
  }

  /// Asks all delegates at the same time, each at its place.
  ///
  ///     let volumes = await events.all { try $0.volume() }.compactMap { try? $0.get() }
  ///
  /// - Parameter question: calls a method of the delegate.
  /// - Returns: one result for each delegate, in the order in which they were added. Delegates that
  ///   die or are removed before their turn, or whose turn has not come when the task is cancelled,
  ///   have none.
  public func all<Answer: Sendable>(
    _ question: @escaping @Sendable (Delegate) throws -> Answer
  ) async -> [Result<Answer, any Error>] {
    await gather { entry in await self.ask(entry, question) }
  }

  /// Asks all delegates at the same time, with an asynchronous method.
  ///
  /// The calls begin in turn, and continue alongside later calls of the same delegate. The method
  /// runs in its own isolation; if it has none, at the place of the delegate.
  ///
  /// - Returns: one result for each delegate, as with a synchronous method.
  public func all<Answer: Sendable>(
    _ question: @escaping @Sendable (Delegate) async throws -> Answer
  ) async -> [Result<Answer, any Error>] {
    await gather { entry in await self.ask(entry, question) }
  }

  private func gather<Answer: Sendable>(
    _ ask: @escaping @Sendable (Entry) async -> Result<Answer, any Error>?
  ) async -> [Result<Answer, any Error>] {
    let entries = entries
    return await withTaskGroup(of: (Int, Result<Answer, any Error>?).self) { group in
      for (index, entry) in entries.enumerated() {
        // Immediately, so that the calls are queued in the order in which they were made.
        group.addImmediateTask { (index, await ask(entry)) }
      }
      var results = [Result<Answer, any Error>?](repeating: nil, count: entries.count)
      for await (index, result) in group { results[index] = result }
      return results.compactMap { $0 }
    }
  }

  /// Calls a method in turn. Returns `nil` if the delegate is already gone, or the task is
  /// cancelled first.
  private func ask<Answer: Sendable>(
    _ entry: Entry, _ question: @escaping @Sendable (Delegate) throws -> Answer
  ) async -> Result<Answer, any Error>? {
    await entry.seat.wait { duty in
      guard let delegate = entry.holder.current else { return }
      duty.fulfil(Result { try question(delegate) })
    }
  }

  /// Calls an asynchronous method in turn. Returns `nil` if the delegate is already gone, or the
  /// task is cancelled first.
  private func ask<Answer: Sendable>(
    _ entry: Entry, _ question: @escaping @Sendable (Delegate) async throws -> Answer
  ) async -> Result<Answer, any Error>? {
    let (seat, holder) = entry
    let delegate: Delegate? = await seat.wait { duty in
      guard let delegate = holder.current, seat.beginVisit() else { return }
      if !duty.fulfil(delegate) { seat.endVisit() }
    }
    guard let delegate else { return nil }
    defer { seat.endVisit() }
    return await seat.visit {
      do {
        return .success(try await question(delegate))
      } catch {
        return .failure(error)
      }
    }
  }
}
