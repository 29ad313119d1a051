// Wraps the functions of <notify.h> that take no token.

internal import CDarwinNotify

extension NotifyToken {
  /// Posts a notification to every process that has registered for the name, this one included.
  ///
  /// A post of another user's name does nothing.
  ///
  /// - Parameter name: the name to post.
  /// - Throws: ``NotifyError/invalidName``, ``NotifyError/serverNotFound`` with neither a bus
  ///   nor a shared table (the post is sent when a bus appears), ``NotifyError/disabled``,
  ///   ``NotifyError/failed``.
  ///
  /// The corresponding C function is `notify_post`.
  public static func post(_ name: NotificationName) throws {
    try withCString(name) { (name) throws(NotifyError) in
      try checkStatus(notify_post(name))
    }
  }

  /// Options of the library in this process.
  public struct Options: OptionSet, Hashable, Sendable {
    /// The flags, as C has them.
    public let rawValue: UInt32

    /// Creates a set from its flags.
    ///
    /// - Parameter rawValue: the flags, as C has them.
    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Has no effect, because it is always so here: `NOTIFY_OPT_DISPATCH`.
    public static let dispatch = Self(rawValue: NOTIFY_OPT_DISPATCH)

    /// Has no effect, because it is always so here: `NOTIFY_OPT_REGEN`.
    public static let regenerate = Self(rawValue: NOTIFY_OPT_REGEN)

    /// Makes posts, registrations and states fail with ``NotifyError/disabled``, except for names
    /// that begin with `self.`: `NOTIFY_OPT_DISABLE`.
    public static let disable = Self(rawValue: NOTIFY_OPT_DISABLE)

    /// Ends ``disable``: `NOTIFY_OPT_ENABLE`.
    public static let enable = Self(rawValue: NOTIFY_OPT_ENABLE)
  }

  /// Sets options of the library in this process.
  ///
  /// - Parameter options: the options to set.
  ///
  /// The corresponding C function is `notify_set_options`.
  public static func setOptions(_ options: Options) {
    notify_set_options(options.rawValue)
  }
}
