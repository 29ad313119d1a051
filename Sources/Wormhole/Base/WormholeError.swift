// The errors of this module.

// `Listener`, `Delivery` and `DarwinNotificationCenter` are needed in almost every use.
@_exported public import DarwinNotify
internal import Glibc

/// An error of an app group or its contents.
///
/// A `catch` clause names the kind, as in `catch WormholeError.busy`; a `switch` uses ``code``. The
/// other properties have the details, if any. Two errors of one kind are equal, whatever their
/// details.
///
///     do {
///       try await hole.pass(true, to: .lightState)
///     } catch WormholeError.busy {
///       print("later")
///     } catch {
///       print("\(error)")
///     }
public struct WormholeError: Error, Sendable {
  /// The kinds of errors. The properties of the same names describe them.
  public enum Code: Hashable, Sendable {
    case invalidIdentifier, reservedName, notPrivate, diskFull, system, busy, heldByReader, nested
    case cancelled, timedOut, foreign, damaged, unknownFormat, tooLarge, codecMismatch
    case typeMismatch, versionMismatch, encoding, decoding, cursorInUse, cursorNotStored
    case database, unknownTable, unknownMigrations, migrationFailed, notification
  }

  /// The kind of error.
  public let code: Code

  /// The file or directory.
  public private(set) var path: String?

  /// The name: of a message, a cursor, a table or a migration, or the subject of an operation that
  /// took too long.
  public private(set) var name: String?

  /// The error number of the system, such as `EACCES`, or the extended result code of SQLite.
  public private(set) var number: Int32?

  /// The expected type, codec, version or limit.
  public private(set) var expected: String?

  /// What was found instead; the process that was in the way.
  public private(set) var found: String?

  /// The reason, in words.
  public private(set) var reason: String?

  /// The names of several tables or migrations.
  public private(set) var names: [String] = []

  private init(
    _ code: Code, path: String? = nil, name: String? = nil, number: Int32? = nil,
    expected: String? = nil, found: String? = nil, reason: String? = nil, names: [String] = []
  ) {
    (self.code, self.path, self.name, self.number) = (code, path, name, number)
    (self.expected, self.found, self.reason) = (expected, found, reason)
    self.names = names
  }

  /// Returns the error with details.
  package func with(path: String? = nil, number: Int32? = nil, reason: String? = nil) -> Self {
    var error = self
    error.path = path ?? self.path
    error.number = number ?? self.number
    error.reason = reason ?? self.reason
    return error
  }
}

extension WormholeError: Hashable {
  /// Returns whether two errors are of the same kind.
  public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

  /// Feeds the kind to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  // Disfavored, so that `case .busy` is not ambiguous between this type and another error type.
  /// Lets a `catch` clause name one of these errors where other errors may also occur.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it is of that kind.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool {
    (error as? Self)?.code == pattern.code
  }
}

extension WormholeError {
  /// An identifier or a name is empty; nothing was changed.
  public static let invalidIdentifier = Self(.invalidIdentifier)

  /// The ``name`` is reserved for a file or directory of the library.
  public static let reservedName = Self(.reservedName)

  /// A directory is a symbolic link or not a directory, belongs to another user, or can be written
  /// by others.
  public static let notPrivate = Self(.notPrivate)

  /// The disk is full or the user's quota is exhausted, wherever this was noticed. Nothing has
  /// changed.
  public static let diskFull = Self(.diskFull)

  /// A system call failed with an error ``number``, such as `EACCES`.
  public static let system = Self(.system)

  /// Another process or thread, ``found``, held the lock of a file for longer than the timeout.
  public static let busy = Self(.busy)

  /// A store or a database was used from within its own transaction.
  public static let nested = Self(.nested)

  /// A reader has been in the middle of a transaction for so long, perhaps since its process was
  /// stopped, that nothing more can be written before it ends.
  public static let heldByReader = Self(.heldByReader)

  /// The task was cancelled. Nothing has changed.
  public static let cancelled = Self(.cancelled)

  /// It took longer than the caller allowed, on a message or a file: ``name``. Nothing has changed.
  public static let timedOut = Self(.timedOut)

  /// A file belongs to another user, or another program has written it.
  public static let foreign = Self(.foreign)

  /// A message or a file is incomplete, or not as it was written.
  public static let damaged = Self(.damaged)

  /// A file was written by a later version of this library, in the format ``found``.
  public static let unknownFormat = Self(.unknownFormat)

  /// A message has more bytes, ``found``, than the limit, ``expected``: store a file in the
  /// directory of the group, and pass its name.
  public static let tooLarge = Self(.tooLarge)

  /// A message was written with a different codec, ``found``, than it is read with.
  public static let codecMismatch = Self(.codecMismatch)

  /// A message holds a value of a different type, ``found``, than it is read as.
  public static let typeMismatch = Self(.typeMismatch)

  /// A message holds a value of a different version of its type, ``found``, than it is read as.
  public static let versionMismatch = Self(.versionMismatch)

  /// A value could not be encoded; ``reason`` says why.
  public static let encoding = Self(.encoding)

  /// A value could not be decoded; ``reason`` says why.
  public static let decoding = Self(.decoding)

  /// A cursor is in use, perhaps by another process: two readers cannot share one.
  public static let cursorInUse = Self(.cursorInUse)

  /// The number of a handled message could not be stored in the cursor. The message comes again.
  public static let cursorNotStored = Self(.cursorNotStored)

  /// SQLite failed: ``number`` is its extended result code. ``reason`` contains SQLite's message,
  /// the statement or migration, and the file.
  public static let database = Self(.database)

  /// There is no table of this ``name`` whose changes are recorded: views and virtual tables have
  /// none. ``names`` are the tables that there are.
  public static let unknownTable = Self(.unknownTable)

  /// A database was migrated by a later version of the program: it has run migrations, ``names``,
  /// that are not in the list.
  public static let unknownMigrations = Self(.unknownMigrations)

  /// A migration failed; it has changed nothing.
  public static let migrationFailed = Self(.migrationFailed)

  /// The operation is complete, but listeners could not be notified; ``reason`` says why.
  public static let notification = Self(.notification)
}

// With their details.
extension WormholeError {
  package static func reservedName(_ name: String) -> Self {
    Self(.reservedName, name: name)
  }

  package static func notPrivate(path: String) -> Self {
    Self(.notPrivate, path: path)
  }

  package static func diskFull(path: String) -> Self {
    Self(.diskFull, path: path)
  }

  /// A full disk has a code of its own.
  package static func system(code: Int32, path: String) -> Self {
    [ENOSPC, EDQUOT].contains(code)
      ? .diskFull(path: path) : Self(.system, path: path, number: code)
  }

  package static func busy(path: String, holder: String? = nil) -> Self {
    Self(.busy, path: path, found: holder)
  }

  package static func nested(path: String) -> Self {
    Self(.nested, path: path)
  }

  package static func heldByReader(path: String) -> Self {
    Self(.heldByReader, path: path)
  }

  package static func timedOut(_ subject: String) -> Self {
    Self(.timedOut, name: subject)
  }

  package static func foreign(path: String) -> Self {
    Self(.foreign, path: path)
  }

  package static func damaged(path: String) -> Self {
    Self(.damaged, path: path)
  }

  package static func unknownFormat(version: Int, path: String) -> Self {
    Self(.unknownFormat, path: path, found: "\(version)")
  }

  package static func tooLarge(bytes: Int, limit: Int) -> Self {
    Self(.tooLarge, expected: "\(limit)", found: "\(bytes)")
  }

  package static func codecMismatch(name: String, expected: String, found: String) -> Self {
    Self(.codecMismatch, name: name, expected: expected, found: found)
  }

  package static func typeMismatch(name: String, expected: String, found: String) -> Self {
    Self(.typeMismatch, name: name, expected: expected, found: found)
  }

  package static func versionMismatch(name: String, expected: UInt32, found: UInt32) -> Self {
    Self(.versionMismatch, name: name, expected: "\(expected)", found: "\(found)")
  }

  package static func encoding(_ reason: String) -> Self {
    Self(.encoding, reason: reason)
  }

  package static func decoding(_ reason: String) -> Self {
    Self(.decoding, reason: reason)
  }

  package static func cursorInUse(_ name: String) -> Self {
    Self(.cursorInUse, name: name)
  }

  package static func cursorNotStored(_ name: String, reason: String) -> Self {
    Self(.cursorNotStored, name: name, reason: reason)
  }

  package static func database(code: Int32, message: String) -> Self {
    Self(.database, number: code, reason: message)
  }

  package static func unknownTable(name: String, known: [String], path: String) -> Self {
    Self(.unknownTable, path: path, name: name, names: known)
  }

  package static func unknownMigrations(names: [String], path: String) -> Self {
    Self(.unknownMigrations, path: path, names: names)
  }

  package static func migrationFailed(name: String, reason: String, path: String) -> Self {
    Self(.migrationFailed, path: path, name: name, reason: reason)
  }

  package static func notification(_ error: any Error) -> Self {
    Self(.notification, reason: "\(error)")
  }
}
