// Names the errors of this module.

public import DarwinNotify
internal import Foundation

/// An error of an app group, or of what is kept in it.
public enum WormholeError: Error, Hashable, Sendable {
  /// An identifier or a name is empty; nothing was changed.
  case invalidIdentifier

  /// A directory is a symbolic link or no directory at all, belongs to another user, or can be
  /// written by others.
  case notPrivate(path: String)

  /// A system call failed: `code` is the error number, such as `ENOSPC`.
  case system(code: Int32, path: String)

  /// Another process or thread held the lock of a file for longer than the time limit.
  case busy(path: String)

  /// What stands in the place of a message is none, or was written by another user.
  case foreign(path: String)

  /// A message is there, but not all of it, or not as it was written.
  case damaged(path: String)

  /// A file was written by a later version of this library.
  case unknownFormat(version: Int, path: String)

  /// A message has more bytes than the limit allows.
  case tooLarge(bytes: Int, limit: Int)

  /// A message was written with another codec than the one it is read with.
  case codecMismatch(expected: String, found: String)

  /// A message holds a value of another type than the one it is read as.
  case typeMismatch(expected: String, found: String)

  /// A message holds a value of another version of its type than the one it is read as.
  case versionMismatch(expected: UInt32, found: UInt32)

  /// A value could not be encoded; the codec says why.
  case encoding(String)

  /// A value could not be decoded; the codec says why.
  case decoding(String)

  /// The transit of a message has no lock under which a value can be read and written again.
  case notCoordinated

  /// The transit of a message keeps no cursors.
  case noCursors

  /// A cursor is in use, perhaps by another process: two readers cannot share one.
  case cursorInUse(String)

  /// SQLite failed: `code` is its extended result code.
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
    case .invalidIdentifier: "an identifier is empty"
    case .notPrivate(let path): "\(path) is not a private directory of this user"
    case .system(let code, let path): "\(path): \(String(cString: strerror(code)))"
    case .busy(let path): "\(path) was locked for too long"
    case .foreign(let path): "\(path) is not a message of this user"
    case .damaged(let path): "\(path) is damaged"
    case .unknownFormat(let version, let path): "\(path) has the unknown format \(version)"
    case .tooLarge(let bytes, let limit): "\(bytes) bytes, at most \(limit) are allowed"
    case .codecMismatch(let expected, let found): "encoded with \(found), not \(expected)"
    case .typeMismatch(let expected, let found): "a value of type \(found), not \(expected)"
    case .versionMismatch(let expected, let found): "version \(found) of the type, not \(expected)"
    case .encoding(let reason): "cannot be encoded: \(reason)"
    case .decoding(let reason): "cannot be decoded: \(reason)"
    case .notCoordinated: "the transit does not coordinate readers and writers"
    case .noCursors: "the transit keeps no cursors"
    case .cursorInUse(let name): "the cursor \(name) is in use"
    case .database(let code, let message): "SQLite error \(code): \(message)"
    case .newerSchema(let found, let known): "schema version \(found), only \(known) are known"
    case .notification(let error): "listeners were not told: \(error)"
    }
  }
}
