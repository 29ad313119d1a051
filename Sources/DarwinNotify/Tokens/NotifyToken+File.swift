// Delivers to a token when a file changes.

internal import CDarwinNotify

extension NotifyToken {
  /// The changes that ``monitorFile(_:for:)`` reports.
  public struct FileChanges: OptionSet, Hashable, Sendable {
    /// The flags, as C has them.
    public let rawValue: Int32

    /// Creates a set from its flags.
    ///
    /// - Parameter rawValue: the flags, as C has them.
    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }

    /// It disappeared, or can no longer be reached: `NOTIFY_MONITOR_DELETE`.
    public static let delete = Self(rawValue: NOTIFY_MONITOR_DELETE)

    /// Its contents changed: `NOTIFY_MONITOR_WRITE`.
    public static let write = Self(rawValue: NOTIFY_MONITOR_WRITE)

    /// It grew: `NOTIFY_MONITOR_EXTEND`.
    public static let extend = Self(rawValue: NOTIFY_MONITOR_EXTEND)

    /// Its mode or owner changed: `NOTIFY_MONITOR_ATTRIB`.
    public static let attributes = Self(rawValue: NOTIFY_MONITOR_ATTRIB)

    /// Its number of links changed: `NOTIFY_MONITOR_LINK`.
    public static let link = Self(rawValue: NOTIFY_MONITOR_LINK)

    /// Another file took its place, or it disappeared: `NOTIFY_MONITOR_RENAME`.
    public static let rename = Self(rawValue: NOTIFY_MONITOR_RENAME)

    /// It can no longer be reached: `NOTIFY_MONITOR_REVOKE`.
    public static let revoke = Self(rawValue: NOTIFY_MONITOR_REVOKE)

    /// It was created, or can now be reached: `NOTIFY_MONITOR_CREATE`.
    public static let create = Self(rawValue: NOTIFY_MONITOR_CREATE)

    /// Its modification time changed: `NOTIFY_MONITOR_MTIME`.
    public static let modificationTime = Self(rawValue: NOTIFY_MONITOR_MTIME)

    /// Its status change time changed: `NOTIFY_MONITOR_CTIME`.
    public static let changeTime = Self(rawValue: NOTIFY_MONITOR_CTIME)

    /// Anything: `NOTIFY_MONITOR_ALL`.
    public static let all = Self(rawValue: NOTIFY_MONITOR_ALL)
  }

  /// Delivers to this token when a file changes, as if the name had been posted to it alone.
  ///
  /// The path need not exist: whatever appears or disappears along it is noticed. Changes within
  /// 100 ms count as one.
  ///
  /// - Parameters:
  ///   - path: an absolute path.
  ///   - changes: the changes to report; the empty set stands for all.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/invalidRequest`` if the path is not
  ///   absolute or contains a NUL, the name begins with `self.`, or the token already monitors a
  ///   file, ``NotifyError/failed``.
  ///
  /// The corresponding C function is `notify_monitor_file`.
  public func monitorFile(
    _ path: String, for changes: FileChanges = .all
  ) throws {
    try withCString(path, orThrow: NotifyError.invalidRequest) { (path) throws(NotifyError) in
      // C declares the path mutable but does not change it.
      let path = UnsafeMutablePointer(mutating: path)
      try checkStatus(notify_monitor_file(rawValue, path, changes.rawValue))
    }
  }
}
