// Calls a service when it is a call's turn.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Dispatch

/// A call that can be cancelled at any time, even before its turn.
final class PendingCall: Sendable {
  private enum State {
    case waiting
    case begun(OutgoingCall)
    case cancelled
  }

  /// The calls of the process: beyond the limit, they wait for their turn.
  private static let permits = Permits(OutgoingCall.limit)

  /// Calls begin here, in order: the first one on a bus may wait a second for the connection.
  private static let queue = DispatchQueue(label: "darwinnotify.calls")

  private let destination: RemoteDestination
  private let kind: String
  private let arguments: PropertyList
  private let state = Locked(State.waiting)
  private let promise = Promise<Result<CallOutcome, any Error>>()

  init(_ kind: String, of destination: RemoteDestination, _ arguments: PropertyList) {
    self.kind = kind
    self.destination = destination
    self.arguments = arguments
  }

  /// Waits for the outcome, once. Cancelling the task cancels the call.
  func outcome() async throws -> CallOutcome {
    Self.queue.async { Self.permits.take { self.begin() } }
    return try await withTaskCancellationHandler {
      try await promise.value().get()
    } onCancel: {
      cancel()
    }
  }

  /// Begins the call with a permit, which is given back when it ends.
  private func begin() {
    do throws(DarwinNotifyError) {
      guard !isCancelled else { return end(.failure(CancellationError())) }
      let call = try OutgoingCall(kind, of: destination.name, on: destination.center, arguments) {
        self.end(.success($0))
      }
      state.withLock { state in
        if case .waiting = state { state = .begun(call) }
      }
      if isCancelled { call.cancel() }
    } catch {
      end(.failure(RemoteError(error, isKind(kind) ? destination.name : kind)))
    }
  }

  private var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } }
  }

  private func end(_ result: Result<CallOutcome, any Error>) {
    promise.provide(result)
    Self.permits.give()
  }

  private func cancel() {
    let before = state.withLock { state in
      defer { state = .cancelled }
      return state
    }
    switch before {
    case .waiting: promise.provide(.failure(CancellationError()))
    case .begun(let call): call.cancel()
    case .cancelled: break
    }
  }
}
