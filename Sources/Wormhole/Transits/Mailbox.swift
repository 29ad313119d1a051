// Describes what a transit keeps of one name.

public import Foundation

/// What is known of one message name: the numbered letters that were put in.
///
/// Every letter, also a ping or the news of a clearing, gets the next number of its name, counted
/// from 1 and never used twice. A number may be left out, if the process that took it was killed
/// before it was done. All requirements may be called on any thread, by any number of processes.
public protocol Mailbox: Sendable {
  /// Puts a letter in.
  ///
  /// A message takes the place of the one before, or joins those that are kept. A ping leaves them
  /// alone. The news of a clearing takes them away. Whatever kills the process meanwhile, others
  /// see either all of it or nothing.
  ///
  /// - Parameter letter: the letter.
  /// - Returns: its number.
  /// - Throws: ``WormholeError``; nothing was put in then.
  func append(_ letter: Letter) throws(WormholeError) -> UInt64

  /// Returns the letters behind a number that are still kept, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - number: the number of the last letter that is known already, 0 for none.
  ///   - limit: how many letters to return at most, 1 or more: the earliest ones.
  /// - Returns: the letters, and whether there are more. If there are, it is at least one.
  /// - Throws: ``WormholeError`` if the mailbox cannot be read. What is wrong with one letter is
  ///   told by the letter.
  func letters(after number: UInt64, limit: Int) throws(WormholeError) -> LetterBatch

  /// Returns the newest message, or `nil` if there is none: no ping, no news of a clearing.
  func lastMessage() throws(WormholeError) -> NumberedLetter?

  /// Returns the number of the last letter that can be seen, 0 if there is none.
  func lastNumber() throws(WormholeError) -> UInt64

  /// Returns a number that was drawn when the mailbox was made, 0 while there is none.
  ///
  /// Somebody may remove the files. The next letter then is the first of another mailbox: readers
  /// find that out by this number.
  func identity() throws(WormholeError) -> UInt32

  /// Reads the newest message and puts in what follows from it, while nobody else can put in
  /// anything.
  ///
  /// - Parameter body: is handed what ``lastMessage()`` returns, and returns the letter to put in,
  ///   or `nil` for none.
  /// - Returns: the number of the letter, or `nil` if there was none.
  /// - Throws: ``WormholeError/notCoordinated`` if the transit cannot do that, what `body` throws.
  func update(_ body: (NumberedLetter?) throws -> Letter?) throws -> UInt64?

  /// Returns the place of a reader, kept under a name for the time when it is not running.
  ///
  /// A cursor that is new stands before the first letter.
  ///
  /// - Parameter name: the name of the cursor.
  /// - Returns: the cursor, which nobody else can open as long as it lives.
  /// - Throws: ``WormholeError/noCursors`` if the transit cannot do that,
  ///   ``WormholeError/cursorInUse(_:)`` while another reader, in any process, holds it.
  func openCursor(_ name: String) throws(WormholeError) -> any MailboxCursor
}

/// The place of a reader in a mailbox. The value is its only user until it goes.
public protocol MailboxCursor: Sendable {
  /// Returns the number of the letter that was seen last, 0 for none.
  func position() throws(WormholeError) -> UInt64

  /// Notes that a letter has been seen.
  ///
  /// - Parameter number: the number of the letter.
  /// - Throws: ``WormholeError`` if it could not be noted.
  func advance(to number: UInt64) throws(WormholeError)
}

extension Mailbox {
  /// Refuses: a mailbox coordinates nothing unless it says otherwise.
  public func update(_ body: (NumberedLetter?) throws -> Letter?) throws -> UInt64? {
    throw WormholeError.notCoordinated
  }

  /// Refuses: a mailbox keeps no cursors unless it says otherwise.
  public func openCursor(_ name: String) throws(WormholeError) -> any MailboxCursor {
    throw .noCursors
  }
}

/// What is put into a mailbox.
public struct Letter: Sendable {
  /// What a letter can be.
  public enum Content: Sendable {
    /// An encoded value.
    case message(Payload)

    /// Nothing but the call to look.
    case ping

    /// The news that what was kept has been taken away.
    case cleared

    /// Something that cannot be read. It comes out of a mailbox only, it cannot be put in.
    case unreadable(WormholeError)

    /// Whether it is, or was meant to be, a value.
    var isMessage: Bool {
      switch self {
      case .message, .unreadable: true
      case .ping, .cleared: false
      }
    }
  }

  /// What the letter is.
  public var content: Content

  /// When it was put in.
  public var date: Date

  /// Who put it in.
  public var sender: Sender

  /// Makes a letter.
  ///
  /// - Parameters:
  ///   - content: what the letter is.
  ///   - date: when it is put in.
  ///   - sender: who puts it in.
  public init(_ content: Content, date: Date = Date(), sender: Sender = .current) {
    self.content = content
    self.date = date
    self.sender = sender
  }
}

/// A letter with the number that a mailbox gave it.
public struct NumberedLetter: Sendable {
  /// The number, 1 or more. It is 0 for something unreadable of which it is not known.
  public var number: UInt64

  /// The letter.
  public var letter: Letter

  /// Makes a numbered letter.
  ///
  /// - Parameters:
  ///   - number: the number.
  ///   - letter: the letter.
  public init(number: UInt64, letter: Letter) {
    self.number = number
    self.letter = letter
  }
}

/// Some letters of a mailbox.
public struct LetterBatch: Sendable {
  /// The letters, in the order of their numbers.
  public var letters: [NumberedLetter]

  /// Whether there may be more behind them.
  public var hasMore: Bool

  /// The identity of the mailbox that they come from, 0 if it has none.
  public var identity: UInt32

  /// Makes a batch.
  ///
  /// - Parameters:
  ///   - letters: the letters, in the order of their numbers.
  ///   - hasMore: whether there may be more behind them.
  ///   - identity: the identity of the mailbox that they come from.
  public init(_ letters: [NumberedLetter], hasMore: Bool, identity: UInt32 = 0) {
    self.letters = letters
    self.hasMore = hasMore
    self.identity = identity
  }
}

/// An encoded value, with what is needed to decode it.
public struct Payload: Sendable, Hashable {
  /// What the codec calls itself, at most 65 535 bytes of UTF-8.
  public var codec: String

  /// The name of the value's type, at most 65 535 bytes of UTF-8.
  public var type: String

  /// The version of the type.
  public var version: UInt32

  /// The bytes that the codec made.
  public var data: Data

  /// Makes a payload.
  ///
  /// - Parameters:
  ///   - codec: what the codec calls itself.
  ///   - type: the name of the value's type.
  ///   - version: the version of the type.
  ///   - data: the bytes that the codec made.
  public init(codec: String, type: String, version: UInt32, data: Data) {
    self.codec = codec
    self.type = type
    self.version = version
    self.data = data
  }
}
