// Shows the posts and names of a bus.

extension DarwinNotificationCenter {
  /// Watches every post on a bus, over a connection of its own, until a closure ends it.
  ///
  /// Without a bus it watches the table that the processes of the user share: the posts of names
  /// with a registration. It blocks the calling thread and runs the closures there. It does not see
  /// posts that stay inside a process.
  ///
  /// - Parameters:
  ///   - bus: the bus to watch; `nil` for that of ``shared``.
  ///   - prefix: only names that begin with these bytes.
  ///   - ready: called once, when no later post is missed.
  ///   - body: called for each post.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty, or the address or the
  ///   prefix contains a NUL, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached``
  ///   if the bus refuses the match rule, ``DarwinNotifyError/notConnected`` if there is neither a
  ///   bus nor a table, or no longer.
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
  /// It makes no connection to the bus: a bus that does not exist has no names.
  ///
  /// - Parameter bus: the bus that the processes use; `nil` for that of ``shared``.
  /// - Returns: the names.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty or contains a NUL,
  ///   ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/notAuthorized`` if there is no
  ///   readable table.
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

/// Passes the choice of a bus to C, where NULL stands for the bus of the process.
private func withCString(
  _ bus: DarwinNotificationCenter.Bus?,
  _ body: (UnsafePointer<CChar>?) throws(DarwinNotifyError) -> Void
) throws(DarwinNotifyError) {
  guard let bus else { return try body(nil) }
  try withCString(bus.specification) { (text) throws(DarwinNotifyError) in
    try body(text)
  }
}
