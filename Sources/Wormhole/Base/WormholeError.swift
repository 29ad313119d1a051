// The errors of this module.

public import DarwinNotify
internal import Glibc

/// An error of an app group or its contents.
public enum WormholeError: Error, Hashable, Sendable {
  /// An identifier or a name is empty; nothing was changed.
  case invalidIdentifier

  /// The library uses a file of this name itself.
  case reservedName(String)

  /// A directory is a symbolic link or not a directory, belongs to another user, or can be written
  /// by others.
  case notPrivate(path: String)

  /// A system call failed: `code` is the error number, such as `ENOSPC`.
  case system(code: Int32, path: String)

  /// Another process or thread held the lock of a file for longer than the timeout.
  case busy(path: String)

  /// A reader has been in the middle of a transaction for so long, perhaps since its process was
  /// stopped, that nothing more can be written before it ends.
  case heldByReader(path: String)

  /// The task was cancelled. Nothing has changed.
  case cancelled

  /// It took longer than the caller allowed, on a message or a file. Nothing has changed.
  case timedOut(String)

  /// A file belongs to another user, or another program has written it.
  case foreign(path: String)

  /// A message is incomplete, or not as it was written.
  case damaged(path: String)

  /// A file was written by a later version of this library.
  case unknownFormat(version: Int, path: String)

  /// A message has more bytes than the limit allows.
  case tooLarge(bytes: Int, limit: Int)

  /// A message was written with a different codec than it is read with.
  case codecMismatch(name: String, expected: String, found: String)

  /// A message holds a value of a different type than it is read as.
  case typeMismatch(name: String, expected: String, found: String)

  /// A message holds a value of a different version of its type than it is read as.
  case versionMismatch(name: String, expected: UInt32, found: UInt32)

  /// A value could not be encoded; the codec says why.
  case encoding(String)

  /// A value could not be decoded; the codec says why.
  case decoding(String)

  /// The transit of a name has no lock under which a value can be read and written back.
  case notCoordinated(name: String, transit: String)

  /// The transit of a name keeps no cursors.
  case noCursors(name: String, transit: String)

  /// Other processes use another transit for the name: messages passed by one are not seen by the
  /// other.
  case otherTransit(name: String, used: String, found: String)

  /// A cursor is in use, perhaps by another process: two readers cannot share one.
  case cursorInUse(String)

  /// The number of a handled message could not be stored in the cursor. The message comes again.
  case cursorNotStored(String, reason: String)

  /// SQLite failed: `code` is its extended result code. The message contains SQLite's message, the
  /// statement or migration, and the file.
  case database(code: Int32, message: String)

  /// There is no table of this name whose changes are recorded: views and virtual tables have none.
  case unknownTable(name: String, known: [String], path: String)

  /// A table has no row with this key; nothing was changed.
  case noSuchRow(table: String, key: String, path: String)

  /// A database was migrated by a later version of the program: it has more migrations than known.
  case newerSchema(found: Int, known: Int, path: String)

  /// A database was migrated by a later version of the program: it has run migrations with these
  /// names, which are not in the list.
  case unknownMigrations(names: [String], path: String)

  /// A migration failed; it has changed nothing.
  case migrationFailed(name: String, reason: String, path: String)

  /// Some messages could not be cleared, and why, by their names. All others are cleared.
  case notCleared([String: WormholeError])

  /// The operation is complete, but listeners could not be notified.
  case notification(DarwinNotifyError)
}

extension WormholeError {
  /// Whether its cause may pass without a change notification.
  var mayPass: Bool {
    switch self {
    case .system, .busy, .cursorNotStored: true
    // `SQLITE_NOMEM`, `SQLITE_IOERR` and `SQLITE_CANTOPEN`, perhaps for lack of a descriptor.
    case .database(let code, _): [7, 10, 14].contains(code & 0xff)
    default: false
    }
  }
}

extension WormholeError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    switch self {
    case .invalidIdentifier: "an identifier or a name is empty"
    case .reservedName(let name): "the name \(name) is reserved for a file of the library"
    case .notPrivate(let path): "\(path) is not a private directory of this user"
    case .system(let code, let path): "\(path): \(String(cString: strerror(code)))"
    case .busy(let path): "\(path) was locked by another process or thread for too long"
    case .heldByReader(let path): "\(path) cannot grow while a reader holds an old state of it"
    case .cancelled: "the task was cancelled"
    case .timedOut(let subject): "\(subject): the time is up"
    case .foreign(let path): "\(path) belongs to another user, or another program has written it"
    case .damaged(let path): "\(path) is damaged"
    case .unknownFormat(let version, let path):
      "\(path) has format \(version), which this version of the library does not know"
    case .tooLarge(let bytes, let limit): "\(bytes) bytes are too many, the limit is \(limit)"
    case .codecMismatch(let name, let expected, let found):
      "\(name): encoded with \(found), expected \(expected)"
    case .typeMismatch(let name, let expected, let found):
      "\(name): a value of type \(found), expected \(expected)"
    case .versionMismatch(let name, let expected, let found):
      "\(name): version \(found) of the type, expected \(expected)"
    case .encoding(let reason): "cannot be encoded: \(reason)"
    case .decoding(let reason): "cannot be decoded: \(reason)"
    case .notCoordinated(let name, let transit):
      "\(name) cannot be updated with the transit \(transit), but with a coordinated file or a log"
    case .otherTransit(let name, let used, let found):
      "\(name) is used with the transit \(used), but its files are those of the transit \(found)"
    case .noCursors(let name, let transit):
      "\(name) has no cursors with the transit \(transit), but with a log"
    case .cursorInUse(let name): "the cursor \(name) is in use by another reader"
    case .cursorNotStored(let name, let reason): "cursor \(name) not stored: \(reason)"
    case .database(let code, let message): "SQLite error \(code): \(message)"
    case .unknownTable(let name, let known, let path):
      "\(path) has no table \(name) whose changes are recorded, but \(list(known))"
    case .noSuchRow(let table, let key, let path): "\(path): the table \(table) has no row \(key)"
    case .newerSchema(let found, let known, let path):
      "\(path) has \(found) migrations, of which this program knows \(known)"
    case .unknownMigrations(let names, let path):
      "\(path) has run migrations that this program does not know: \(list(names))"
    case .migrationFailed(let name, let reason, let path):
      "the migration \(name) of \(path) failed: \(reason)"
    case .notCleared(let reasons):
      reasons.sorted { $0.key < $1.key }.map { "\($0.key) not cleared: \($0.value)" }
        .joined(separator: "; ")
    case .notification(let error):
      "the change is stored, but listeners could not be notified: \(error)"
    }
  }
}

private func list(_ names: [String]) -> String {
  names.isEmpty ? "none" : names.joined(separator: ", ")
}
