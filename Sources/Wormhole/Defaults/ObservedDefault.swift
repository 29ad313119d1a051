// Shows a setting as an observable property.

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
  @ObservationIgnored private var observation: DefaultsObservation?

  /// Reads the value and begins to follow it. Neither waits for writers.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - defaults: the defaults of a group.
  /// - Throws: what reading the value throws, what ``SharedDefaults/changes(of:initial:)`` throws.
  public init(_ key: DefaultsKey<Value>, in defaults: SharedDefaults) throws(WormholeError) {
    self.key = key
    self.defaults = defaults
    value = try defaults.blocking[key]
    // A value set in between is the first change.
    observation = try defaults.observe(key) { [weak self] change in
      self?.take { () throws(WormholeError) in try change.value }
    }
  }

  /// Sets the value, for all processes.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``SharedDefaults/set(_:for:timeout:)`` throws.
  public func set(_ value: Value, timeout: Duration? = nil) async throws(WormholeError) {
    try await defaults.set(value, for: key, timeout: timeout)
    // Another process may have set something else meanwhile, which is known here already.
    take { () throws(WormholeError) in try defaults.blocking[key] }
  }

  private func take(_ read: () throws(WormholeError) -> Value) {
    do throws(WormholeError) {
      value = try read()
      error = nil
    } catch {
      self.error = error
    }
  }
}
