// Lists what a message can be.

extension Wormhole {
  /// The content of a record: a value, or an event with a number of its own.
  ///
  /// For a listener a value is a `Value`, for a transit its encoded form, a ``Payload``.
  public enum Content<Value: Sendable>: Sendable {
    /// A value.
    case value(Value)

    /// A request to look. The stored value has not changed.
    case ping

    /// The stored value was removed.
    case cleared

    /// Nothing is stored. Only a listener that asked for it gets this, as its first call.
    case absent

    /// Something was passed that cannot be read. This affects only this message.
    case unreadable(WormholeError)
  }
}

extension Wormhole.Content: Equatable where Value: Equatable {}

extension Wormhole.Content {
  /// Converts the value; an error of the conversion makes the content unreadable.
  func map<Other: Sendable>(
    _ convert: (Value) throws(WormholeError) -> Other
  ) -> Wormhole.Content<Other> {
    switch self {
    case .value(let value):
      do throws(WormholeError) {
        return .value(try convert(value))
      } catch {
        return .unreadable(error)
      }
    case .ping: return .ping
    case .cleared: return .cleared
    case .absent: return .absent
    case .unreadable(let error): return .unreadable(error)
    }
  }

  /// The error for content that cannot be stored.
  var notStorable: WormholeError? {
    switch self {
    case .value, .ping, .cleared: nil
    case .absent: .encoding("the absence of a message cannot be stored")
    case .unreadable(let error): error
    }
  }
}
