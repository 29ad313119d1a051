// Looks at what goes on on a bus.

extension DarwinNotificationCenter {
  /// Watches every post on a bus, over a connection of its own, until a closure ends it.
  ///
  /// While there is no bus it watches the table that the processes of the user share: the posts of
  /// names with a registration. It blocks the thread for as long; the closures run there. Posts
  /// that stay inside a process are not seen.
  ///
  /// - Parameters:
  ///   - bus: the bus to watch; `nil` for that of ``shared``.
  ///   - prefix: only names that begin with these bytes.
  ///   - ready: is called once, when no later post is missed.
  ///   - body: is called for each post.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for an empty address, or an address or a
  ///   prefix with a NUL, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached`` if
  ///   the bus refuses the match rule, ``DarwinNotifyError/notConnected`` if there is neither a bus
  ///   nor a table, or no more.
  ///
  /// The corresponding C function is `dn_watch_posts`.
  public static func watchPosts(
    on bus: Bus? = nil,
    prefix: String = "",
    ready: () -> WatchDecision = { .proceed },
    _ body: (PostRecord) -> WatchDecision
  ) throws(DarwinNotifyError) {
    try withCString(bus) { (bus) throws(DarwinNotifyError) in
      try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
        try check(DarwinNotify.watchPosts(on: bus, prefix: prefix, ready: ready, post: body))
      }
    }
  }

  /// Lists the names that processes of this user have registrations for on a bus, in byte order.
  ///
  /// No connection is made to the bus: one that does not exist has no names.
  ///
  /// - Parameter bus: the bus that the processes use; `nil` for that of ``shared``.
  /// - Returns: the names.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for an address that is empty or has a
  ///   NUL, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/notAuthorized`` if there is no
  ///   table to be read.
  ///
  /// The corresponding C function is `dn_list_names`.
  public static func names(on bus: Bus? = nil) throws(DarwinNotifyError) -> [NameRecord] {
    var names: [NameRecord] = []
    try withCString(bus) { (bus) throws(DarwinNotifyError) in
      try check(listNames(on: bus, into: &names))
    }
    return names
  }
}

/// Passes the choice of a bus to C, where NULL stands for that of the process.
private func withCString(
  _ bus: DarwinNotificationCenter.Bus?,
  _ body: (UnsafePointer<CChar>?) throws(DarwinNotifyError) -> Void
) throws(DarwinNotifyError) {
  guard let bus else { return try body(nil) }
  try withCString(bus.specification) { (text) throws(DarwinNotifyError) in
    try body(text)
  }
}
