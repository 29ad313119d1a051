// Lists what a message can be.

extension Wormhole {
  /// The content of a message: a value, or an event with a number of its own.
  public enum Content<Value: Sendable>: Sendable {
    /// A value.
    case value(Value)

    /// A request to look. The stored messages stay.
    case ping

    /// The messages before it were removed.
    case cleared

    /// Nothing is stored. Only a listener that asked for it gets this, as its first call.
    case absent

    /// Something was passed that cannot be read. This affects only this message.
    case unreadable(WormholeError)
  }
}

extension Wormhole.Content: Equatable where Value: Equatable {}
