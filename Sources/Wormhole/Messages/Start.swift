// Lists where a listener can start.

extension Wormhole {
  /// The message that a listener starts with.
  public enum Start: Hashable, Sendable {
    /// The next message that is passed.
    case new

    /// The stored message, if there is one, then all new ones. This is the default.
    case last

    /// Like ``last``; if nothing is stored, the first call reports that with ``Content/absent``.
    case lastOrAbsent

    /// The earliest message that is kept.
    case all

    /// The message after this number.
    case since(UInt64)

    /// The message after the last one that a reader with this cursor has handled; if there was
    /// none, the earliest message that is kept.
    ///
    /// A cursor belongs to one message name. One reader at a time can use it, among all processes.
    /// Its position is stored once a message has been handled: when a handler returns, when the
    /// next message of a sequence is requested, or by ``Message/acknowledge()``. A reader that is
    /// killed gets the message it was handling again, and every other one exactly once. For
    /// exactly-once processing, store the number of the message in the transaction that holds the
    /// result, for example of a ``SharedDatabase``, and start with ``since(_:)``.
    case cursor(String)
  }

  /// The senders whose messages a listener gets, distinguished by `Sender.isOwn`.
  public enum Senders: Hashable, Sendable {
    /// All processes, including this one.
    case all

    /// Other processes. Messages stored when the listener is bound count as theirs.
    case others
  }
}

extension Wormhole.Senders {
  /// Returns whether to deliver a message that was not yet stored at the start.
  func include(_ sender: StoredSender) -> Bool {
    self == .all || sender.process != ProcessNumber.current
  }
}
