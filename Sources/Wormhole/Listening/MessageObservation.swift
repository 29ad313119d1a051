// Ends the registration of a handler of messages.

internal import DarwinNotify

/// A registered handler of messages, which lasts as long as the value lives.
public final class MessageObservation: Sendable {
  private let registration: NotificationObservation
  private let endPump: @Sendable (PositionHandler?) -> Void
  private let waitForPump: @Sendable () -> Void
  private let cursorOfPump: @Sendable () -> ReaderCursor?

  init<Value>(_ pump: MessagePump<Value>, observing channel: Channel) throws(WormholeError) {
    registration = try channel.center.observe(channel.changeName) { pump.wake() }
    endPump = { pump.end(then: $0) }
    waitForPump = { pump.waitUntilIdle() }
    cursorOfPump = { pump.cursor }
  }

  deinit {
    cancel()
  }

  /// Ends the registration. Calling it again has no effect.
  ///
  /// If called on the executor of the handler, no call follows, not even for a message that is
  /// already on its way. If called elsewhere, at most one call that has already begun may still
  /// finish.
  public func cancel() {
    end()
  }

  /// Ends the registration, then waits until no call of the handler is running.
  ///
  /// It waits as long as the handler runs, so do not hold a lock that the handler takes. Called
  /// from the handler itself, it does not wait for that call.
  public func cancelAndWait() {
    end()
    waitForPump()
  }

  /// The cursor of the handler, until the registration ends.
  var cursor: ReaderCursor? { cursorOfPump() }

  /// Ends the registration. The successor gets the position after the last delivered message.
  func end(then successor: PositionHandler? = nil) {
    registration.cancel()
    endPump(successor)
  }
}
