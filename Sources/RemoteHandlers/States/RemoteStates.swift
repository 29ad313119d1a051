// Presents the states of a service as a sequence.

internal import DarwinNotify

/// The states of a service, as a sequence: first the present one, then each change.
///
/// Every iterator begins with the state at the time it is created. States that it has not read yet
/// wait; if more than 16 are waiting, further ones are merged into the last. Leaving the loop,
/// dropping the sequence or cancelling the task ends the observation.
///
///     for await availability in try player.availability() {
///       playButton.isEnabled = availability == .available
///     }
public struct RemoteStates<State: Sendable>: AsyncSequence, Sendable {
  /// The type of the sequence's elements.
  public typealias Element = State

  /// The sequence never throws.
  public typealias Failure = Never

  private let source: RegistrationSource<StateRegistration<State>>

  /// Observes for each iteration, for the first one now.
  init(_ observe: @escaping @Sendable () throws -> StateRegistration<State>) rethrows {
    source = try RegistrationSource(observe)
  }

  /// Begins an iteration.
  ///
  /// The first iteration has observed the service since the sequence was created. If a further one
  /// runs out of memory while registering, it ends at once.
  ///
  /// - Returns: an iterator, for one task.
  public func makeAsyncIterator() -> Iterator {
    Iterator(registration: source.take())
  }

  /// An iteration over the states of a service.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let registration: StateRegistration<State>?

    /// Waits for the next state.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the state, or `nil` once the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> State? {
      await registration?.next(isolation: actor)
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension RemoteStates.Iterator: Sendable {}

/// The observation of one iteration, which ends with the last reference.
final class StateRegistration<State: Sendable>: Sendable {
  private let queue: StateQueue<State>
  private let end: @Sendable () -> Void

  /// Takes over an observation that fills a queue, with the function that ends it.
  init(_ queue: StateQueue<State>, end: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.end = end
  }

  deinit {
    end()
  }

  /// Returns the next state, or `nil` once the observation is over or the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> State? {
    await withTaskCancellationHandler {
      await queue.next(isolation: isolation)
    } onCancel: {
      end()
      queue.cancel()
    }
  }
}
