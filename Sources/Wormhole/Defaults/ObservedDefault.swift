// Shows a setting as an observable property.

public import Observation

/// A value of the defaults as a property that can be observed, as views do.
///
/// It has the current value from the beginning, and follows what any process sets:
///
///     let theme = try ObservedDefault(.theme, in: group.defaults)
///     label.text = theme.value
///     try theme.set("dark")
@MainActor @Observable public final class ObservedDefault<Value: Codable & Sendable> {
  /// The value, or the default of the key if nothing is set. It stays as it was if the value
  /// cannot be read.
  public private(set) var value: Value

  /// Why the current value cannot be read; `nil` if it can.
  public private(set) var error: WormholeError?

  private let key: DefaultsKey<Value>
  private let defaults: SharedDefaults
  @ObservationIgnored private var observation: DefaultsObservation?

  /// Reads the value and begins to follow it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - defaults: the defaults of a group.
  /// - Throws: what reading the value throws, what ``SharedDefaults/changes(of:initial:)`` throws.
  public init(_ key: DefaultsKey<Value>, in defaults: SharedDefaults) throws(WormholeError) {
    self.key = key
    self.defaults = defaults
    value = try defaults[key]
    // A value set in between is the first change.
    observation = try defaults.observe(key) { [weak self] change in self?.take(change) }
  }

  /// Sets the value, for all processes.
  ///
  /// - Parameter value: the value.
  /// - Throws: what ``SharedDefaults/set(_:for:)`` throws.
  public func set(_ value: Value) throws(WormholeError) {
    try defaults.set(value, for: key)
    self.value = value
    error = nil
  }

  private func take(_ change: SharedDefaults.Change<Value>) {
    do throws(WormholeError) {
      value = try change.value
      error = nil
    } catch {
      self.error = error
    }
  }
}
