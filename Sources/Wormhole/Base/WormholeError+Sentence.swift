// The texts of the errors.

internal import DarwinNotify
public import FoundationEssentials
internal import Glibc

extension WormholeError {
  /// Whether its cause may pass without a change notification.
  var mayPass: Bool {
    switch self {
    case .system, .diskFull, .busy, .cursorNotStored: true
    // `SQLITE_NOMEM`, `SQLITE_IOERR` and `SQLITE_CANTOPEN`, perhaps for lack of a descriptor.
    case .database: [7, 10, 14].contains((number ?? 0) & 0xff)
    default: false
    }
  }
}

extension WormholeError: CustomStringConvertible {
  /// A sentence that says what failed, where and why.
  public var description: String {
    let (file, name) = (path ?? "a file", name ?? "a name")
    let (expected, found) = (expected ?? "another one", found ?? "another one")
    let why = reason.map { ": \($0)" } ?? ""
    return switch code {
    case .invalidIdentifier: "an identifier or a name is empty"
    case .reservedName: "the name \(name) is reserved for a file of the library"
    case .notPrivate: "\(path ?? "a directory") is not a private directory of this user"
    case .diskFull: "\(file): there is no room left"
    case .system: "\(file): \(number.map { String(cString: strerror($0)) } ?? "failed")\(why)"
    case .busy:
      "\(file) was locked by \(self.found ?? "another process or thread") for too long"
    case .nested: "\(file) is used from within its own transaction"
    case .heldByReader: "\(file) cannot grow while a reader still uses an old state"
    case .cancelled: "the task was cancelled"
    case .timedOut: "\(self.name ?? "the operation"): timed out"
    case .foreign: "\(file) belongs to another user or was written by another program"
    case .damaged: "\(file) is damaged\(why)"
    case .unknownFormat:
      "\(file) has format \(found), which this version of the library does not know"
    case .tooLarge:
      "\(found) bytes exceed the limit of \(expected); store a file in the group and pass its name"
    case .codecMismatch: "\(name): encoded with \(found), expected \(expected)"
    case .typeMismatch: "\(name): a value of type \(found), expected \(expected)"
    case .versionMismatch: "\(name): version \(found) of the type, expected \(expected)"
    case .encoding: "cannot be encoded\(why)"
    case .decoding: "cannot be decoded\(why)"
    case .cursorInUse: "the cursor \(name) is in use by another reader"
    case .cursorNotStored: "the cursor \(name) was not stored\(why)"
    case .database: "SQLite error \(number ?? 1)\(why)"
    case .unknownTable: "\(file) has no table \(name), but: \(list)"
    case .unknownMigrations:
      "\(file) has run migrations that this program does not know: \(list)"
    case .migrationFailed: "the migration \(name) of \(file) failed\(why)"
    case .notification: "the change is stored, but listeners could not be notified\(why)"
    }
  }

  private var list: String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}

extension WormholeError: LocalizedError {
  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

extension DarwinNotifyError: LocalizedError {
  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

extension NotifyError: LocalizedError {
  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

/// The message of a codec's error, in words: not the syntax of Swift.
package func sentence(of error: any Error) -> String {
  let path: [any CodingKey]
  let text: String
  switch error {
  case DecodingError.keyNotFound(let key, let context):
    (path, text) = (context.codingPath, "there is no value for the key \(key.stringValue)")
  case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
    DecodingError.dataCorrupted(let context):
    (path, text) = (context.codingPath, context.debugDescription)
  case EncodingError.invalidValue(_, let context):
    (path, text) = (context.codingPath, context.debugDescription)
  default:
    return "\(error)"
  }
  let keyPath = path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  return keyPath.isEmpty ? text : "\(keyPath): \(text)"
}
