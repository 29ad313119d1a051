// Lists the endings of file names.

/// The endings of the files of a message name.
enum FileSuffix {
  /// The newest message, with a transit of files.
  static let message = ".message"

  /// The numbers given out, with a transit of files.
  static let mailbox = ".mailbox"

  /// The records, with a log.
  static let log = ".log"

  /// The lock of a cursor.
  static let cursor = ".cursor"
}
