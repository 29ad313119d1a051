// Gives the stores of a group their places.

internal import DarwinNotifySupport

extension AppGroup {
  /// Returns the store of a name: `GROUP/NAME/store.sqlite`, with the same object at each call.
  ///
  /// There is one for each directory of a ``Wormhole``, and ``defaultsStore`` for the defaults.
  /// Nothing is read or written before it is used.
  ///
  /// - Parameter name: any nonempty text. Characters that a file name cannot contain are escaped.
  /// - Returns: the store, which is opened at its first use.
  package func store(named name: String) -> MessageStore {
    stores.withLock { stores in
      if let store = stores[ExactString(name)] { return store }
      let store = MessageStore(
        Self.storeFile, in: "\(container.path)/\(FileName(for: name).text)",
        post: name == Self.defaultsStore
          ? String(postPrefix(of: name).dropLast()) : postPrefix(of: name),
        center: center)
      stores[ExactString(name)] = store
      return store
    }
  }

  /// The name of the store of the defaults.
  package static let defaultsStore = "defaults"

  /// The name of the store of a wormhole that is opened without one.
  static let wormholeStore = "wormhole"

  /// The file of a store in its directory.
  package static let storeFile = "store.sqlite"

  /// The beginning of the Darwin names that are posted after changes of a store, with a final dot:
  /// `wormhole.GROUP.NAME.`. All defaults have one name, `wormhole.GROUP.defaults`: several
  /// change at a time.
  ///
  /// Anyone who monitors the bus can read it. It has at most 255 bytes.
  ///
  /// - Parameter store: the name of the store.
  /// - Returns: the prefix.
  package func postPrefix(of store: String) -> String {
    postName("\(identifier).\(store)", MessageStore.maxNameBytes - 1) + "."
  }
}
