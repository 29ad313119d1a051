// Answers requests of other processes.

public import DarwinNotify
public import Delegation
internal import DarwinNotifySupport
internal import Dispatch

/// A name on a bus under which the handlers of a `HandlerBus` answer other processes.
///
///     let service = try await RemoteService(
///       name: "org.example.Player", exporting: bus, [Search.self])
///
/// Only what is exported can be asked for. The requests of one caller begin in the order of its
/// calls. The name is given up when this object ends; requests in progress are still answered.
public final class RemoteService: Sendable {
  /// The name of the service.
  public let name: String

  private let server: RequestServer
  private let desk: Desk

  /// Owns a name on a bus.
  ///
  /// It also succeeds without a bus: the library keeps looking for one, then requests the name.
  ///
  /// - Parameters:
  ///   - name: a well-known bus name, such as `org.example.Player`.
  ///   - bus: the bus whose handlers answer. Its interceptors and its trace see these requests.
  ///   - requests: what other processes can ask for.
  ///   - queueing: whether to wait for a name that another process has, instead of failing.
  ///   - center: the center whose bus to use.
  ///   - isAllowed: who may ask; by default processes of the same user. Must be quick.
  /// - Throws: ``RemoteError``: `nameTaken`, `notAllowed`, `invalid` for a name or kind that cannot
  ///   be one, `notConnected` if the center has no bus to look for, `limitReached`.
  public init(
    name: String, exporting bus: HandlerBus, _ requests: [any RemoteRequest.Type],
    queueing: Bool = false, on center: DarwinNotificationCenter = .shared,
    allowing isAllowed: (@Sendable (RemoteCaller) -> Bool)? = nil
  ) async throws(RemoteError) {
    let desk = Desk(bus)
    for request in requests { desk.add(request) }
    self.name = name
    self.desk = desk
    var allow: (@Sendable (RequestInfo) -> Bool)?
    if let isAllowed { allow = { isAllowed(RemoteCaller($0)) } }
    let handler = RequestServer.Handler(
      allow: allow, begin: { desk.begin($0) }, cancel: { desk.cancel($0) })
    let kinds = requests.map { $0.kind }
    do throws(DarwinNotifyError) {
      server = try RequestServer(
        name, exporting: kinds, queueing: queueing, on: center,
        delivery: .queue(DispatchQueue(label: name)), handler)
    } catch {
      throw RemoteError(error, name)
    }
  }

  /// Whether the process owns the name at present.
  public var hasName: Bool { server.hasName }

  /// How many requests are being answered.
  var requestCount: Int { desk.count }

  /// Lets other processes make requests of another type.
  ///
  /// - Parameter type: the type.
  /// - Throws: ``RemoteError/invalid`` if its kind cannot be one.
  public func export<Request: RemoteRequest>(_ type: Request.Type) throws(RemoteError) {
    desk.add(type)
    do throws(DarwinNotifyError) {
      try server.export(Request.kind)
    } catch {
      throw RemoteError(error, Request.kind)
    }
  }

  /// Ends that. Requests that have arrived are still handled.
  ///
  /// - Parameter type: the type.
  public func withdraw<Request: RemoteRequest>(_ type: Request.Type) {
    server.withdraw(Request.kind)
  }
}

/// Passes requests to a bus, and their answers back.
private final class Desk: Sendable {
  private typealias Clerk = @Sendable (HandlerBus, IncomingRequest) async -> Void

  private struct State {
    /// By kind.
    var clerks: [String: Clerk] = [:]
    /// Requests in progress; `nil` while the task begins.
    var tasks: [UInt64: Task<Void, Never>?] = [:]
  }

  private let bus: HandlerBus
  private let state = Locked(State())

  init(_ bus: HandlerBus) {
    self.bus = bus
  }

  func add<Request: RemoteRequest>(_ type: Request.Type) {
    let clerk: Clerk = { bus, request in await answer(request, as: type, by: bus) }
    state.withLock { $0.clerks[Request.kind] = clerk }
  }

  /// Begins to answer a request, on the queue of the service: the handler begins here.
  func begin(_ request: IncomingRequest) {
    let id = request.info.id
    let clerk = state.withLock { state in
      state.tasks[id] = .some(nil)
      return state.clerks[request.info.kind]
    }
    let task = Task.immediate {
      await clerk?(bus, request)
      state.withLock { _ = $0.tasks.removeValue(forKey: id) }
    }
    state.withLock { state in
      if state.tasks[id] != nil { state.tasks[id] = task }
    }
  }

  var count: Int { state.withLock { $0.tasks.count } }

  func cancel(_ id: UInt64) {
    state.withLock { $0.tasks[id] ?? nil }?.cancel()
  }
}

/// Answers a request with the answer of a bus.
private func answer<Request: RemoteRequest>(
  _ request: IncomingRequest, as type: Request.Type, by bus: HandlerBus
) async {
  do {
    let asked = try decodeArguments(request.arguments, of: Request.self)
    let response = try await RemoteCaller.$current.withValue(RemoteCaller(request.info)) {
      try await bus.send(asked)
    }
    request.answer(try encodeResponse(response))
  } catch {
    request.refuse(error)
  }
}
