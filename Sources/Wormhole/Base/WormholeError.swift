// Names the errors of this module.

public import DarwinNotify
internal import Glibc

/// An error of an app group, or of what is kept in it.
public enum WormholeError: Error, Hashable, Sendable {
  /// An identifier or a name is empty; nothing was changed.
  case invalidIdentifier

  /// The library needs the name of a database for files of its own.
  case reservedName(String)

  /// A directory is a symbolic link or no directory at all, belongs to another user, or can be
  /// written by others.
  case notPrivate(path: String)

  /// A system call failed: `code` is the error number, such as `ENOSPC`.
  case system(code: Int32, path: String)

  /// Another process or thread held the lock of a file for longer than the time limit.
  case busy(path: String)

  /// A file belongs to another user, or another program has written it.
  case foreign(path: String)

  /// A message is there, but not all of it, or not as it was written.
  case damaged(path: String)

  /// A file was written by a later version of this library.
  case unknownFormat(version: Int, path: String)

  /// A message has more bytes than the limit allows.
  case tooLarge(bytes: Int, limit: Int)

  /// A message was written with another codec than the one it is read with.
  case codecMismatch(name: String, expected: String, found: String)

  /// A message holds a value of another type than the one it is read as.
  case typeMismatch(name: String, expected: String, found: String)

  /// A message holds a value of another version of its type than the one it is read as.
  case versionMismatch(name: String, expected: UInt32, found: UInt32)

  /// A value could not be encoded; the codec says why.
  case encoding(String)

  /// A value could not be decoded; the codec says why.
  case decoding(String)

  /// The transit of a message has no lock under which a value can be read and written again.
  case notCoordinated

  /// The transit of a message keeps no cursors.
  case noCursors

  /// Other processes use another transit for the name: what is passed by one is not seen by the
  /// other.
  case otherTransit(name: String, used: String, found: String)

  /// A cursor is in use, perhaps by another process: two readers cannot share one.
  case cursorInUse(String)

  /// The position of a cursor could not be stored. A message that was handled comes again.
  case cursorNotStored(String, reason: String)

  /// SQLite failed: `code` is its extended result code. The message has its words, the statement or
  /// migration, and the file.
  case database(code: Int32, message: String)

  /// A database was migrated by a later version of the program: it has more migrations than known.
  case newerSchema(found: Int, known: Int)

  /// What was asked for is done, but those who listen could not be told.
  case notification(DarwinNotifyError)
}

extension WormholeError: CustomStringConvertible {
  /// What happened, in words.
  public var description: String {
    switch self {
    case .invalidIdentifier: "an identifier or a name is empty"
    case .reservedName(let name): "the library has a file named \(name) itself"
    case .notPrivate(let path): "\(path) is not a private directory of this user"
    case .system(let code, let path): "\(path): \(String(cString: strerror(code)))"
    case .busy(let path): "\(path) was locked by another process or thread for too long"
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
    case .notCoordinated: "the transit does not support updates; coordinated files and logs do"
    case .otherTransit(let name, let used, let found):
      "\(name) is used with the transit \(used), but its files are those of the transit \(found)"
    case .noCursors: "the transit keeps no cursors; a log does"
    case .cursorInUse(let name): "the cursor \(name) is in use by another reader"
    case .cursorNotStored(let name, let reason): "cursor \(name) not stored: \(reason)"
    case .database(let code, let message): "SQLite error \(code): \(message)"
    case .newerSchema(let found, let known):
      "the database has \(found) migrations, of which this program knows \(known)"
    case .notification(let error):
      "the change is stored, but listeners could not be notified: \(error)"
    }
  }
}
