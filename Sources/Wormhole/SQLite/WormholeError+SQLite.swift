// Converts result codes of SQLite to errors.

internal import CSQLite
internal import Glibc

extension WormholeError {
  /// Makes an error from an extended result code that is not `SQLITE_OK`.
  init(
    sqlite code: Int32, message: String, statement: String? = nil, systemError: Int32 = 0,
    path: String, limit: WorkLimit? = nil
  ) {
    switch code & 0xff {
    case SQLITE_FULL: self = .diskFull(path: path)
    case SQLITE_IOERR where [ENOSPC, EDQUOT].contains(systemError): self = .diskFull(path: path)
    case SQLITE_BUSY, SQLITE_PROTOCOL: self = limit?.failure ?? .busy(path: path)
    case SQLITE_INTERRUPT: self = limit?.failure ?? .cancelled
    case SQLITE_NOTADB: self = .foreign(path: path)
    case SQLITE_CORRUPT: self = .damaged(path: path)
    default:
      self =
        code == sqliteIsSymbolicLink
        ? .foreign(path: path)
        : .database(
          code: code, message: message + (statement.map { ", in \($0)" } ?? "") + ", in \(path)")
    }
  }
}

// Swift does not see the macros of extended codes.

/// `SQLITE_CANTOPEN_SYMLINK`.
let sqliteIsSymbolicLink = SQLITE_CANTOPEN | 6 << 8

/// `SQLITE_CANTOPEN`, for code that does not import SQLite.
let sqliteCannotOpen = SQLITE_CANTOPEN

/// `SQLITE_MISUSE`, for code that does not import SQLite.
let sqliteMisuse = SQLITE_MISUSE

/// `SQLITE_ABORT_ROLLBACK`.
let sqliteHasRolledBack = SQLITE_ABORT | 2 << 8
