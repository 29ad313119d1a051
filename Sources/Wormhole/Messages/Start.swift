// Lists what a listener can ask for.

extension Wormhole {
  /// The message that a listener begins with.
  public enum Start: Hashable, Sendable {
    /// The next one that is passed.
    case new

    /// The one that is stored, if there is one, then all new ones. This is the default.
    case last

    /// As ``last``; if nothing is stored, the first call says so with ``Content/absent``.
    case lastOrAbsent

    /// The earliest one that is kept.
    case all

    /// The one after a number.
    case since(UInt64)

    /// The one after the last that a reader with this name has handled; the earliest one that is
    /// kept, if there was no such reader.
    ///
    /// The name belongs to the name of the messages. One reader at a time can use it, in all
    /// processes. Its position is stored when a message has been handled: when a handler returns,
    /// when the next message of a sequence is asked for, or by ``Message/acknowledge()``. A reader
    /// that is killed gets the message again that it was handling, and every other exactly once.
    /// For exactly-once processing, store the number of the message in the transaction that holds
    /// the result, say of a ``SharedDatabase``, and start with ``since(_:)``.
    case cursor(String)
  }

  /// The senders whose messages a listener gets. Processes are told apart by
  /// ``Sender/process``.
  public enum Senders: Hashable, Sendable {
    /// All processes, this one too.
    case all

    /// Other processes. What is stored when the listener is bound counts as theirs.
    case others
  }
}

extension Wormhole.Senders {
  /// Tells whether a message is to be delivered.
  func include<Value>(_ message: Wormhole.Message<Value>) -> Bool {
    self == .all || message.isInitial || !message.sender.isCurrent
  }
}
