// Whether a service is there.

internal import DarwinNotify
internal import DarwinNotifySupport

extension RemoteDestination {
  /// Whether a service is there.
  public enum Availability: Hashable, Sendable {
    /// A process owns the name of the service. If an element is followed by an equal one, another
    /// process has taken the name over.
    case available

    /// Nobody owns the name: a request fails with ``RemoteError/noService``, unless the bus can
    /// start the service.
    case absent

    /// There is no bus at present: a request fails with ``RemoteError/notConnected``.
    case notConnected
  }

  /// Returns a sequence of whether the service is there: first the present state, then each change.
  ///
  ///     for await availability in try player.availability() {
  ///       playButton.isEnabled = availability == .available
  ///     }
  ///
  /// A process that hangs keeps its name, so a request may still time out. On a center without a
  /// bus, the services of this process on the same center are followed.
  ///
  /// The first use of a bus waits up to a second for the connection.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it. The first state comes
  ///   as soon as the bus has answered.
  /// - Throws: ``RemoteError``: `invalid` for a name that cannot be one, `limitReached`.
  ///
  /// The corresponding C function is `dn_center_observe_owner`.
  public func availability() throws -> RemoteStates<Availability> {
    try RemoteStates { try AvailabilityWatch.begin(of: self) }
  }
}

/// Combines what is known about a name on the bus and in this process, of which at most one has
/// services.
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
