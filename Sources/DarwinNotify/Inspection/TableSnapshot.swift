// Reads a table as a whole.

internal import CDarwinNotify
internal import Glibc

/// What a table contained while it was read. The corresponding C type is `dn_table_reader`.
package struct TableSnapshot: Sendable {
  /// The random number of the table.
  package private(set) var region: UInt64 = 0

  /// Its slots for names, and those that have a name, held or not.
  package private(set) var slots: UInt64 = 0
  package private(set) var namedSlots: UInt64 = 0

  /// Its entries for processes, and those of living processes.
  package private(set) var entries: UInt64 = 0
  package private(set) var usedEntries: UInt64 = 0

  /// Whether the name of interest has a slot, or would get one.
  package private(set) var hasRoom = true

  /// The names with a registration, in no order.
  package private(set) var names: [NameRecord] = []

  /// One for each center of a living process.
  package private(set) var processes: [Process] = []

  /// The entry of a living process. The corresponding C type is `dn_process_record`.
  package struct Process: Sendable {
    /// `nil` if it is unknown or of another PID namespace.
    package let identifier: Int32?
    package let names: UInt64
    /// Names with posts that it has not looked at.
    package let unread: UInt64
    /// Whether it observes a prefix.
    package let follows: Bool
  }

  /// Reads the table in a file.
  ///
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the file is not a table of this version,
  ///   ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_read_table`.
  package init(descriptor: CInt, nameOfInterest: NotificationName? = nil) throws {
    try withOptionalCString(nameOfInterest?.rawValue) { (name) throws(DarwinNotifyError) in
      try check(
        withUnsafeMutablePointer(to: &self) { snapshot in
          var reader = Self.reader
          reader.context = UnsafeMutableRawPointer(snapshot)
          reader.name_of_interest = name
          return dn_read_table(descriptor, &reader)
        })
    }
  }

  /// Finds the file of the table of a bus. Makes none.
  ///
  /// - Returns: its path and a descriptor, which the caller closes; `nil` if there is none yet.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty or contains a NUL,
  ///   ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/notAuthorized`` if it cannot be
  ///   opened, or no directory can have one.
  ///
  /// The corresponding C function is `dn_find_table`.
  package static func find(
    on bus: DarwinNotificationCenter.Bus? = nil
  ) throws -> (path: String, descriptor: CInt)? {
    var path: UnsafeMutablePointer<CChar>?
    var descriptor: CInt = -1
    try withOptionalCString(bus?.specification) { (bus) throws(DarwinNotifyError) in
      descriptor = dn_find_table(bus, &path)
      if descriptor != -ENOENT { try check(descriptor) }
    }
    guard let path else { return nil }
    defer { free(path) }
    return (String(cString: path), descriptor)
  }

  private static var reader: dn_table_reader {
    var reader = dn_table_reader()
    reader.table = { record, context in
      guard let record = record?.pointee else { return 0 }
      Self.borrow(context).pointee.take(record)
      return 0
    }
    reader.name = { record, context in
      guard let record = record?.pointee else { return 0 }
      Self.borrow(context).pointee.names.append(NameRecord(record))
      return 0
    }
    reader.process = { record, context in
      guard let record = record?.pointee else { return 0 }
      Self.borrow(context).pointee.processes.append(Process(record))
      return 0
    }
    return reader
  }

  private static func borrow(
    _ context: UnsafeMutableRawPointer?
  ) -> UnsafeMutablePointer<TableSnapshot> {
    guard let context else { preconditionFailure("C lost a context") }
    return context.assumingMemoryBound(to: TableSnapshot.self)
  }

  private mutating func take(_ record: dn_table_record) {
    region = record.region
    slots = record.n_slots
    namedSlots = record.n_named
    entries = record.n_entries
    usedEntries = record.n_processes
    hasRoom = record.has_room
  }
}

extension TableSnapshot.Process {
  fileprivate init(_ record: dn_process_record) {
    identifier = record.pid == 0 ? nil : record.pid
    names = record.n_names
    unread = record.n_unread
    follows = record.follows
  }
}
