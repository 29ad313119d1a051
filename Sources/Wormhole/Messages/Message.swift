// Carries what a listener is told.

public import Foundation

/// One message, as a listener or a reader gets it.
public struct Message<Value: Sendable>: Sendable {
  /// What a message can be.
  public enum Content: Sendable {
    /// A value that was passed.
    case value(Value)

    /// Only the bell was rung. What is stored has not changed.
    case ping

    /// What was stored has been taken away.
    case cleared

    /// Nothing is stored: the first call of a listener that asked to be called in any case.
    case absent

    /// Something was passed that cannot be read. It concerns this message alone.
    case unreadable(WormholeError)
  }

  /// What the message is.
  public let content: Content

  /// The text of the name that it was passed to.
  public let name: String

  /// The number of the message among all of its name, counted from 1: pings and clearings too.
  ///
  /// With ``Content/absent`` it is the number that was given out last, 0 if none was.
  public let sequence: UInt64

  /// When it was passed, by the clock of the sender. With ``Content/absent``, now.
  public let date: Date

  /// Who passed it. With ``Content/absent``, this process; nobody, 0, if nothing could be read.
  public let sender: Sender

  /// How many messages of the name were passed between this and the one before that this listener
  /// did not get, because a newer one took their place or they are kept no longer.
  public let missed: UInt64

  /// Whether it was there already when the listener was bound.
  public let isInitial: Bool

  /// The value, if there is one.
  public var value: Value? {
    guard case .value(let value) = content else { return nil }
    return value
  }

  /// Whether it says that nothing is stored.
  var isAbsent: Bool {
    if case .absent = content { true } else { false }
  }

  /// Why there is no value, if it could not be read.
  public var error: WormholeError? {
    guard case .unreadable(let error) = content else { return nil }
    return error
  }

  /// Makes a message, as a test of a listener may want to.
  ///
  /// - Parameters:
  ///   - content: what the message is.
  ///   - name: the text of its name.
  ///   - sequence: its number among all of its name.
  ///   - date: when it was passed.
  ///   - sender: who passed it.
  ///   - missed: how many the listener did not get before it.
  ///   - isInitial: whether it was there already when the listener was bound.
  public init(
    _ content: Content, name: String, sequence: UInt64 = 1, date: Date = Date(),
    sender: Sender = .current, missed: UInt64 = 0, isInitial: Bool = false
  ) {
    self.content = content
    self.name = name
    self.sequence = sequence
    self.date = date
    self.sender = sender
    self.missed = missed
    self.isInitial = isInitial
  }
}

extension MessageName {
  /// Makes the message that a letter is.
  func message(
    _ numbered: NumberedLetter, missed: UInt64 = 0, isInitial: Bool = false
  ) -> Message<Value> {
    Message(
      content(of: numbered.letter.content), name: rawValue, sequence: numbered.number,
      date: numbered.letter.date, sender: numbered.letter.sender, missed: missed,
      isInitial: isInitial)
  }

  /// Returns the value of the newest message, `nil` if there is none.
  func value(of newest: NumberedLetter?) throws(WormholeError) -> Value? {
    switch newest?.letter.content {
    case .message(let payload): try decode(payload)
    case .unreadable(let error): throw error
    case .ping, .cleared, nil: nil
    }
  }

  private func content(of letter: Letter.Content) -> Message<Value>.Content {
    switch letter {
    case .message(let payload):
      do throws(WormholeError) {
        return .value(try decode(payload))
      } catch {
        return .unreadable(error)
      }
    case .ping: return .ping
    case .cleared: return .cleared
    case .unreadable(let error): return .unreadable(error)
    }
  }
}
