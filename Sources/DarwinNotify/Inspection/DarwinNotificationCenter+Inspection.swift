// Inspects a bus.

extension DarwinNotificationCenter {
  /// Watches every post on a bus, over a connection of its own.
  ///
  /// Posts wait in memory until they are read. The watch ends with the task that reads the
  /// sequence, or with the sequence; a bus that is lost ends it with
  /// ``DarwinNotifyError/notConnected``. Where there is none,
  /// ``observe(withPrefix:on:_:)-(_,Delivery,_)`` reports the posts of names with a registration.
  /// Posts that stay inside a process are not seen.
  ///
  /// - Parameters:
  ///   - bus: the bus to watch; `nil` for that of ``shared``.
  ///   - prefix: only names that begin with these bytes.
  /// - Returns: the posts, for one task. None is missed that is sent after this has returned.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty, or the address or the
  ///   prefix contains a NUL, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached``
  ///   if the bus refuses the match rule, ``DarwinNotifyError/notConnected`` if there is no bus.
  ///
  /// The corresponding C function is `dn_watch_open`.
  public static func posts(
    on bus: Bus? = nil, prefix: String = ""
  ) async throws -> AsyncThrowingStream<PostRecord, any Error> {
    let (posts, records) = AsyncThrowingStream.makeStream(of: PostRecord.self)
    try await PostWatch(records).begin(on: bus?.specification, prefix: prefix)
    return posts
  }

  /// Lists the names that processes of this user have registrations for on a bus, in byte order.
  ///
  /// It makes no connection to the bus: a bus that does not exist has no names.
  ///
  /// - Parameter bus: the bus that the processes use; `nil` for that of ``shared``.
  /// - Returns: the names.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty or contains a NUL,
  ///   ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/notAuthorized`` if the table
  ///   cannot be read, or no directory can have one.
  ///
  /// The corresponding C function is `dn_list_names`.
  public static func names(on bus: Bus? = nil) throws -> [NameRecord] {
    var names: [NameRecord] = []
    try withCString(bus) { (bus) throws(DarwinNotifyError) in
      try check(listNames(on: bus, into: &names))
    }
    names.sort { $0.name.rawValue.utf8.lexicographicallyPrecedes($1.name.rawValue.utf8) }
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

/// A name that processes of this user have registrations for.
///
/// The corresponding C type is `dn_name_record`.
public struct NameRecord: Hashable, Sendable {
  /// The name. The corresponding C field is `name`.
  public let name: NotificationName

  /// The number of posts, counted from an arbitrary start. The corresponding C field is
  /// `generation`.
  public let generation: UInt64

  /// The value that ``NotifyToken/state`` reads. The corresponding C field is `state`.
  public let state: UInt64

  /// The pids of the one or more processes with a registration, as they see themselves; `nil` if
  /// not known. The corresponding C fields are `n_holders`, `pids`.
  public let holders: [Int32?]

  /// The number of posts since the name came into the table. The corresponding C field is
  /// `n_posts`.
  public let posts: UInt64
}
