// Shows the stored message of a name as an observable property.

internal import DarwinNotify
public import Observation

/// The stored value of a name as a property that can be observed, as views do.
///
/// It has the current value from the beginning, and follows what any process passes or clears:
///
///     let light = try ObservedMessage(.lightState, in: hole)
///     label.text = light.value == true ? "on" : "off"
///     try await light.pass(true)
@MainActor @Observable public final class ObservedMessage<Value: Codable & Sendable> {
  /// The value, or `nil` if there is none. It stays as it was if a message cannot be read.
  public private(set) var value: Value?

  /// Why the newest message cannot be read; `nil` if it can. While the store cannot be read for a
  /// reason that may pass, such as a lack of descriptors, both properties stay as they were.
  public private(set) var error: WormholeError?

  private let name: MessageName<Value>
  private let hole: Wormhole
  @ObservationIgnored private var observation: NotificationObservation?

  /// Reads the value and starts following it.
  ///
  /// - Parameters:
  ///   - name: the name of the messages.
  ///   - hole: the wormhole, which lives as long as this object.
  /// - Throws: what ``Wormhole/bind(_:to:from:starting:)`` throws. A value that cannot be read is
  ///   in ``error``.
  public init(_ name: MessageName<Value>, in hole: Wormhole) throws {
    self.name = name
    self.hole = hole
    do throws(WormholeError) {
      value = try name.value(of: hole.store.newest(of: name.rawValue))
    } catch {
      self.error = error
    }
    // A message passed in between is already the stored one; after a clearing, there is none.
    observation = try hole.listen(name, starting: .lastOrAbsent) { [weak self] message in
      self?.take(message)
    }
  }

  /// Passes a value, to all processes.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``Wormhole/pass(_:to:timeout:)`` throws.
  public func pass(_ value: Value, timeout: Duration? = nil) async throws {
    try await hole.pass(value, to: name, timeout: timeout)
  }

  private func take(_ message: Wormhole.Message<Value>) {
    switch message.content {
    case .value(let value): (self.value, error) = (value, nil)
    case .cleared, .absent: (value, error) = (nil, nil)
    // Nothing is delivered when it has passed, unless there is something new.
    case .unreadable(let error) where error.mayPass: break
    case .unreadable(let error): self.error = error
    case .ping: break
    }
  }
}
