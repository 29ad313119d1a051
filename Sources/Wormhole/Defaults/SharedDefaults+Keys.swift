// Tells which settings are set.

extension SharedDefaults {
  /// The names of all keys that are set, in order.
  ///
  /// - Throws: what reading a value throws, but for ``WormholeError/decoding(_:)``.
  public var keys: [String] {
    get throws(WormholeError) {
      try read { (table) throws(WormholeError) in try table.names() } ?? []
    }
  }

  /// Tells whether a key is set, also to its default, or to a value of another type.
  ///
  /// - Parameter key: the key.
  /// - Returns: whether it is set.
  /// - Throws: what reading a value throws, but for ``WormholeError/decoding(_:)``.
  public func contains<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) -> Bool {
    let entry = try read { (table) throws(WormholeError) in try table.entry(key.name) } ?? nil
    return entry?.value != nil
  }

  /// Removes all values, and tells those who listen if there were any.
  ///
  /// - Throws: what ``set(_:for:)`` throws.
  public func removeAll() throws(WormholeError) {
    try transaction { (values) throws(WormholeError) in try values.removeAll() }
  }
}
