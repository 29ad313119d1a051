// Ends the registration of a listener.

internal import DarwinNotify

/// A registered handler of messages, for as long as the value lives.
public final class MessageObservation: Sendable {
  private let bell: Observation
  private let endPump: @Sendable () -> MailboxPlace?
  private let waitForPump: @Sendable () -> Void

  init<Value>(_ pump: MessagePump<Value>, rungBy channel: Channel) throws(WormholeError) {
    bell = try channel.center.observe(channel.bell) { pump.wake() }
    endPump = { pump.end() }
    waitForPump = { pump.waitUntilIdle() }
  }

  deinit {
    cancel()
  }

  /// Ends the registration. To call it again changes nothing.
  ///
  /// Where the handler runs, no call of it follows, not even of a message that is already on its
  /// way. From elsewhere, at most one call that has begun comes to its end.
  public func cancel() {
    end()
  }

  /// Ends the registration, then waits until no call of the handler is running any more.
  ///
  /// It waits as long as the handler runs, so do not hold a lock that the handler takes. A handler
  /// that calls it does not wait for itself.
  public func cancelAndWait() {
    end()
    waitForPump()
  }

  /// Ends the registration. Returns the place behind the last message that was delivered.
  @discardableResult func end() -> MailboxPlace? {
    bell.cancel()
    return endPump()
  }
}
