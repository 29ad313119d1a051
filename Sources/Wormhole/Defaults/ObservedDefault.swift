// Shows a value of the defaults as an observable property.

internal import DarwinNotify
internal import DarwinNotifySupport
public import Observation

/// A value of the defaults as a property that can be observed, as views do.
///
/// It has the current value from the beginning, and follows what any process sets:
///
///     let theme = try ObservedDefault(.theme, in: group.defaults)
///     label.text = theme.value
///     try await theme.set("dark")
@MainActor @Observable public final class ObservedDefault<Value: Codable & Sendable> {
  /// The value, or the default of the key if nothing is set. It stays as it was if the value
  /// cannot be read.
  public private(set) var value: Value

  /// Why the current value cannot be read; `nil` if it can.
  public private(set) var error: WormholeError?

  private let key: DefaultsKey<Value>
  private let defaults: SharedDefaults
  @ObservationIgnored private var position: StoredPosition?
  @ObservationIgnored private var observation: NotificationObservation?

  /// Reads the value without waiting for writers, and begins to follow it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - defaults: the defaults of a group.
  /// - Throws: what reading the value throws, what ``SharedDefaults/changes(of:initial:)`` throws.
  public init(_ key: DefaultsKey<Value>, in defaults: SharedDefaults) throws {
    self.key = key
    self.defaults = defaults
    let current = try defaults.store.lastChange(of: key)
    value = try current.value
    position = current.position
    let follow = onMainActor { @MainActor [weak self] (change: SharedDefaults.Change<Value>) in
      self?.take(change.result, at: change.position)
    }
    // A value that was set in between is the first change.
    observation = try defaults.observe(key, after: current.position, on: .main, follow)
  }

  /// Sets the value, for all processes.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``SharedDefaults/set(_:for:timeout:)`` throws.
  public func set(_ value: Value, timeout: Duration? = nil) async throws {
    let position = try await defaults.put(try key.encode(value), for: key, timeout)
    take(.success(value), at: position)
  }

  /// Takes over a result, unless a newer one is known.
  private func take(_ result: Result<Value, WormholeError>, at position: StoredPosition?) {
    if let position, let known = self.position, position.identity == known.identity,
      !position.isInOtherFile(than: known)
    {
      guard position.number > known.number || error != nil && position.number == known.number
      else { return }
    }
    self.position = position ?? self.position
    switch result {
    case .success(let value): (self.value, error) = (value, nil)
    case .failure(let error): self.error = error
    }
  }
}
