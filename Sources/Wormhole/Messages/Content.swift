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

    /// Nothing is stored. Only a listener that asked for this gets it, as its first call.
    case absent

    /// A message that cannot be read was passed. This affects only that message.
    case unreadable(WormholeError)
  }
}

extension Wormhole.Content: Equatable where Value: Equatable {}
