// Notifies all delegates of an event.

extension MulticastDelegate {
  /// Calls a method of all delegates, each at its place.
  ///
  ///     events((any PlayerEvents).didStart, 7)
  ///
  /// It returns at once, except for delegates with `.inline` or in place. Dead delegates are
  /// skipped.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol, or a closure that returns one.
  ///   - arguments: its arguments, without labels.
  @inlinable public func callAsFunction<each Argument: Sendable>(
    _ method: @escaping @Sendable (Delegate) -> (repeat each Argument) -> Void,
    _ arguments: repeat each Argument
  ) {
    var hasMissed = false
    for seat in table.seats {
      switch seat.enter() {
      case .open:
        if let delegate = seat.reference.get(as: Delegate.self) {
          method(delegate)(repeat each arguments)
        } else {
          hasMissed = true
        }
        seat.leave()
      case .busy:
        seat.post { reference in
          if let delegate = reference.get(as: Delegate.self) {
            method(delegate)(repeat each arguments)
          }
        }
      case .closed:
        break
      }
    }
    if hasMissed { table.removeDead() }
  }

  /// Calls a closure with each delegate, at its place: an event as it is written for one delegate,
  /// with the labels of its arguments.
  ///
  ///     events.each { $0.didSeek(to: 3.5) }
  ///
  /// - Parameter event: calls a method of the delegate.
  @inlinable public func each(_ event: @escaping @Sendable (Delegate) -> Void) {
    let method: @Sendable (Delegate) -> () -> Void = { delegate in { event(delegate) } }
    self(method)
  }

  /// Calls a method of all delegates, on the main actor.
  ///
  /// - Parameters:
  ///   - method: a method of the protocol that is isolated to the main actor. All delegates must
  ///     have been added with `.main`, or be called on it.
  ///   - arguments: its arguments, without labels.
  public func callAsFunction<each Argument: Sendable>(
    _ method: @escaping @Sendable (Delegate) -> @MainActor (repeat each Argument) -> Void,
    _ arguments: repeat each Argument
  ) {
    let anywhere: @Sendable (Delegate) -> (repeat each Argument) -> Void = { delegate in
      { (argument: repeat each Argument) in
        MainActor.assumeIsolated { method(delegate)(repeat each argument) }
      }
    }
    self(anywhere, repeat each arguments)
  }
}
