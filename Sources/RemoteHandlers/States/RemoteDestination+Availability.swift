// Reports whether a service is available.

internal import DarwinNotify
internal import DarwinNotifySupport

extension RemoteDestination {
  /// Whether a service is available.
  public enum Availability: Hashable, Sendable {
    /// A process owns the name of the service. Two equal elements in a row mean that another
    /// process has taken over the name.
    case available

    /// Nobody owns the name: a request fails with ``RemoteError/noService``, unless the bus can
    /// start the service.
    case absent

    /// The bus is missing at present: a request fails with ``RemoteError/notConnected``.
    case notConnected
  }

  /// Returns a sequence that reports whether the service is available: first the present state,
  /// then each change.
  ///
  ///     for await availability in try player.availability() {
  ///       playButton.isEnabled = availability == .available
  ///     }
  ///
  /// A process that hangs keeps its name, so a request may still time out. On a center without a
  /// bus, the sequence follows the services of this process on the same center.
  ///
  /// The first use of a bus waits up to a second for the connection.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it. The first state
  ///   arrives as soon as the bus has answered.
  /// - Throws: ``RemoteError``: `invalid` for a name that is malformed, `limitReached`.
  ///
  /// The corresponding C function is `dn_center_observe_owner`.
  public func availability() throws -> RemoteStates<Availability> {
    try RemoteStates { try AvailabilityWatch.begin(of: self) }
  }
}

/// Combines the states of a name on the bus and in this process; at most one of them has services.
final class AvailabilityWatch: Sendable {
  private struct State {
    var isHere = false
    var onBus: RemoteDestination.Availability?

    var combined: RemoteDestination.Availability? { isHere ? .available : onBus }
  }

  private let state = Locked(State())
  private let queue = StateQueue<RemoteDestination.Availability>()

  /// Observes a service.
  static func begin(
    of destination: RemoteDestination
  ) throws -> StateRegistration<RemoteDestination.Availability> {
    let watch = AvailabilityWatch()
    let (name, center) = (destination.name, destination.center)
    let endHere = Loopback.add(watch, of: name, on: center)
    guard !center.isIsolated else {
      watch.note(.notConnected)
      return StateRegistration(watch.queue, end: endHere)
    }
    do {
      let onBus = try center.observeOwner(of: name, on: .inline) { [weak watch] owner in
        watch?.note(RemoteDestination.Availability(owner))
      }
      return StateRegistration(watch.queue) {
        endHere()
        onBus.cancel()
      }
    } catch {
      endHere()
      throw RemoteError(error, name)
    }
  }

  /// Notes the state on the bus.
  private func note(_ onBus: RemoteDestination.Availability) {
    state.withLock { state in
      state.onBus = onBus
      if !state.isHere { queue.add(onBus) }
    }
    wake()
  }

  /// Notes whether this process has the service. The caller wakes the task, without a lock.
  func set(isHere: Bool) {
    state.withLock { state in
      guard state.isHere != isHere else { return }
      state.isHere = isHere
      if let combined = state.combined { queue.add(combined) }
    }
  }

  /// Wakes the task that waits for a state.
  func wake() {
    queue.wake()
  }
}

extension RemoteDestination.Availability {
  fileprivate init(_ owner: NameOwner) {
    self =
      switch owner {
      case .notConnected: .notConnected
      case .nobody: .absent
      case .connection: .available
      }
  }
}
