// Passes requests to the handlers of a bus.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Delegation

/// A request to answer, from another process or from this one.
struct Inquiry: Sendable {
  let id: UInt64
  let kind: String
  let arguments: PropertyList
  let caller: Sender
  let answer: @Sendable (PropertyList) -> Void
  let refuse: @Sendable (Refusal) -> Void
}

extension Inquiry {
  /// Describes a request from another process, which is refused if it is dropped.
  init(_ request: IncomingRequest) {
    self.init(
      id: request.info.id, kind: request.info.kind, arguments: request.arguments,
      caller: request.info.caller, answer: { request.answer($0) },
      refuse: { request.refuse($0.name, $0.message, $0.details) })
  }
}

/// Passes requests to a bus, and their answers back.
///
/// The code of the host runs in tasks on threads of their own: neither a handler that blocks nor
/// the function that admits callers delays other requests or cancellations.
final class Desk: Sendable {
  private typealias Clerk = @Sendable (HandlerBus, Inquiry) async -> Void

  private struct State {
    /// By kind.
    var clerks: [String: Clerk] = [:]
    var exported: Set<String> = []
    /// Requests in progress.
    var tasks: [UInt64: Task<Void, Never>] = [:]
    /// Waits for the end of the requests in progress.
    var departures: [Promise<Bool>] = []
    /// Whether no more requests begin.
    var isClosed = false
  }

  private let bus: HandlerBus
  private let isAllowed: (@Sendable (Sender) -> Bool)?
  private let state = Locked(State())

  /// Creates a desk that asks a function, if there is one, which callers may make requests.
  init(_ bus: HandlerBus, allowing isAllowed: (@Sendable (Sender) -> Bool)?) {
    self.bus = bus
    self.isAllowed = isAllowed
  }

  /// Accepts requests of a type.
  func add<Request: RemoteRequest>(_ type: Request.Type) {
    let clerk: Clerk = { bus, inquiry in await answer(inquiry, as: type, by: bus) }
    state.withLock { state in
      state.clerks[Request.kind] = clerk
      state.exported.insert(Request.kind)
    }
  }

  /// Stops accepting them; requests that have arrived are still handled.
  func remove(_ kind: String) {
    state.withLock { _ = $0.exported.remove(kind) }
  }

  /// Whether requests of a kind are accepted.
  func exports(_ kind: String) -> Bool {
    state.withLock { $0.exported.contains(kind) }
  }

  /// Begins to answer a request, or refuses it if the desk is closed.
  func begin(_ inquiry: Inquiry) {
    let isClosed = state.withLock { state in
      guard !state.isClosed else { return true }
      let clerk = state.clerks[inquiry.kind]
      // The task needs the lock to end, so it is stored first, where a cancellation finds it.
      state.tasks[inquiry.id] = Task(executorPreference: HandlerThreads.shared) { [self] in
        if isAllowed?(inquiry.caller) ?? true {
          await clerk?(bus, inquiry)
        } else {
          inquiry.refuse(
            Refusal(StandardError.accessDenied, "The service does not answer this caller."))
        }
        end(inquiry.id)
      }
      return false
    }
    if isClosed { inquiry.refuse(Refusal(RequestServer.unavailable, "The service is closed.")) }
  }

  private func end(_ id: UInt64) {
    let over = state.withLock { state in
      state.tasks[id] = nil
      guard state.tasks.isEmpty else { return [Promise<Bool>]() }
      defer { state.departures = [] }
      return state.departures
    }
    for promise in over { promise.provide(true) }
  }

  /// Refuses further requests, and waits until none is in progress. If the time runs out, cancels
  /// the remaining tasks and returns false.
  func finish(within timeout: Duration?) async -> Bool {
    let promise = Promise<Bool>()
    let isIdle = state.withLock { state in
      state.isClosed = true
      if !state.tasks.isEmpty { state.departures.append(promise) }
      return state.tasks.isEmpty
    }
    if isIdle { return true }
    let timer = timeout.map { Timeout(after: $0) { promise.provide(false) } }
    defer { timer?.cancel() }
    let isFinished = await promise.value()
    if !isFinished {
      for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }
    return isFinished
  }

  /// How many requests are being answered.
  var count: Int { state.withLock { $0.tasks.count } }

  /// Cancels the task of a request, if it has one.
  func cancel(_ id: UInt64) {
    state.withLock { $0.tasks[id] }?.cancel()
  }
}

/// Answers a request with the answer of a bus.
private func answer<Request: RemoteRequest>(
  _ inquiry: Inquiry, as type: Request.Type, by bus: HandlerBus
) async {
  do {
    let asked = try decodeArguments(inquiry.arguments, of: Request.self)
    let response = try await RemoteService.$caller.withValue(inquiry.caller) {
      try await bus.answer(asked)
    }
    inquiry.answer(try encodeResponse(response))
  } catch let failure as Request.Failure {
    inquiry.refuse(
      Refusal(RequestServer.failed, "\(failure)", details: try? encodeResponse(failure)))
  } catch {
    inquiry.refuse(Refusal(error))
  }
}
