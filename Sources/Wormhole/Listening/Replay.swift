// Lists what a listener can ask for.

/// What a listener is told when it is bound.
public enum Initial: Hashable, Sendable {
  /// Nothing: it hears what is passed from now on.
  case none

  /// The message that is stored, if there is one.
  case fireIfPresent

  /// The message that is stored, or that there is none.
  case fireAlways
}

/// Where a reader of messages begins.
public enum Replay: Hashable, Sendable {
  /// With what is passed from now on.
  case none

  /// With the message that is stored, if there is one.
  case last

  /// With the earliest message that is kept.
  case all

  /// With the message behind the one with a number.
  case since(UInt64)

  /// Where the reader of that name stopped when it last ran, and with the earliest message that is
  /// kept if it never ran.
  ///
  /// The name of the reader belongs to the name of the messages; one reader can use it at a time,
  /// in all processes; a handler that ends its own observation holds it until it returns. How far
  /// the reader is, is noted when it has handled a message: then also one that was killed sees each
  /// message exactly once, but for the one that it was handling, which it sees again. Who cannot
  /// bear that writes the number of the message down together with what came of it, say in one
  /// transaction of a ``SharedDatabase``, and begins with ``since(_:)``.
  case cursor(String)
}

/// Whose messages a listener is told.
public enum Senders: Hashable, Sendable {
  /// Those of all processes, its own too.
  case all

  /// Those of other processes. What is stored when the listener is bound counts as theirs.
  case others

  /// Tells whether a message is to be handed over.
  func include<Value>(_ message: Message<Value>) -> Bool {
    self == .all || message.isInitial || message.sender != .current
  }
}
