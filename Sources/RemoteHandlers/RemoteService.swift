// Answers requests of other processes.

public import DarwinNotify
@_exported public import Delegation
public import DarwinNotifySupport
internal import Dispatch

/// A name on a bus under which the handlers of a `HandlerBus` answer other processes.
///
///     let service = try await RemoteService(
///       name: "org.example.Player", exporting: bus, [Search.self])
///
/// Only exported types of requests are answered. Requests are answered concurrently, on threads of
/// their own: handlers may block. The requests of one caller begin in the order of its calls, but
/// two that are in progress may overtake each other; a caller that needs an order waits for each
/// answer. The name is given up when this object is released; requests in progress are still
/// answered.
///
/// On a center that `isolated()` made, or that has no bus (`DARWIN_NOTIFY_BUS=none`), a service
/// answers the requests that this process makes on the same center.
public final class RemoteService: Sendable {
  /// The name of the service.
  public let name: String

  /// The caller of the request that the current task handles, as the bus reports it; `nil` if the
  /// request did not come through a service.
  @TaskLocal public static var caller: Sender?

  private enum Counter {
    case bus(RequestServer)
    case loopback(Loopback)
  }

  /// `nil` once the service is closed.
  private let counter: Locked<Counter?>
  private let desk: Desk
  /// Whether the process owns the name.
  private let names = StateFeed(false)

  /// Owns a name on a bus.
  ///
  /// It also succeeds without a bus: the library keeps looking for one, then requests the name. It
  /// may wait a second for the bus, on a thread that no task needs.
  ///
  /// - Parameters:
  ///   - name: a well-known bus name, such as `org.example.Player`.
  ///   - bus: the bus whose handlers answer. Its interceptors and its trace see these requests.
  ///   - requests: what other processes can ask for.
  ///   - queueing: whether to wait for a name that another process has, instead of failing.
  ///   - center: the center whose bus to use.
  ///   - isAllowed: who may ask; by default processes of the same user. It is called for each
  ///     request, on any thread, even while another call of it is running.
  /// - Throws: ``RemoteError``: `nameTaken`, `notAllowed`, `invalid` for a name or kind that cannot
  ///   be one, `limitReached`.
  public init(
    name: String, exporting bus: HandlerBus, _ requests: [any RemoteRequest.Type],
    queueing: Bool = false, on center: DarwinNotificationCenter = .shared,
    allowing isAllowed: (@Sendable (Sender) -> Bool)? = nil
  ) async throws {
    let desk = Desk(bus, allowing: isAllowed)
    for request in requests { desk.add(request) }
    self.name = name
    self.desk = desk
    let kinds = requests.map { $0.kind }
    if let malformed = kinds.first(where: { !isKind($0) }) {
      throw RemoteError.invalid.about(malformed)
    }
    if center.isIsolated {
      counter = Locked(
        .loopback(try .open(name, on: center, desk, queueing: queueing, names: names)))
      return
    }
    // The function is asked by the desk, not on the queue where cancellations arrive.
    let everybody: @Sendable (RequestInfo) -> Bool = { _ in true }
    let handler = RequestServer.Handler(
      allow: isAllowed.map { _ in everybody },
      begin: { desk.begin(Inquiry($0)) }, cancel: { desk.cancel($0) },
      nameChanged: { [names] hasName in
        names.set(hasName)
        names.wake()
      })
    let task = Task<Counter, any Error>(executorPreference: HandlerThreads.shared) { [names] in
      do {
        return .bus(
          try RequestServer(
            name, exporting: kinds, queueing: queueing, on: center,
            delivery: .queue(DispatchQueue(label: name)), handler))
      } catch DarwinNotifyError.notConnected {
        return .loopback(
          try Loopback.open(name, on: center, desk, queueing: queueing, names: names))
      } catch let error as DarwinNotifyError {
        throw RemoteError(error, name)
      }
    }
    counter = Locked(try await task.value)
    names.begin(with: hasName)
  }

  deinit {
    giveUpName()
  }

  /// Whether the process owns the name at present.
  public var hasName: Bool {
    switch counter.withLock({ $0 }) {
    case .bus(let server): server.hasName
    case .loopback(let service): service.hasName
    case nil: false
    }
  }

  /// Returns a sequence that reports whether the process owns the name: first the present state,
  /// then each change.
  ///
  ///     for await hasName in service.nameStates() {
  ///       log(hasName ? "serving" : "another process serves, or there is no bus")
  ///     }
  ///
  /// - Returns: the sequence. When the service is closed or released, it reports that the process
  ///   no longer owns the name, then ends.
  public func nameStates() -> RemoteStates<Bool> {
    RemoteStates { [names] in names.follow() }
  }

  /// Answers requests until the task is cancelled, then closes the service and finishes the
  /// requests in progress.
  ///
  ///     try await withThrowingTaskGroup(of: Void.self) { group in
  ///       group.addTask { await service.run(closingWithin: .seconds(5)) }
  ///       …
  ///     }
  ///
  /// - Parameter timeout: how long to wait for requests in progress, as ``close(timeout:)`` does.
  public func run(closingWithin timeout: Duration? = nil) async {
    let isCancelled = Promise<Void>()
    await withTaskCancellationHandler {
      await isCancelled.value()
    } onCancel: {
      isCancelled.provide(())
    }
    await close(timeout: timeout)
  }

  /// Gives up the name, then waits until all requests in progress are answered.
  ///
  /// Closing again only waits. It waits even if the calling task is cancelled.
  ///
  /// - Parameter timeout: how long to wait; then the tasks of their handlers are cancelled. `nil`:
  ///   as long as it takes.
  /// - Returns: whether all were answered in time.
  @discardableResult public func close(timeout: Duration? = nil) async -> Bool {
    giveUpName()
    return await desk.finish(within: timeout)
  }

  private func giveUpName() {
    let counter = counter.withLock { $0.take() }
    if case .loopback(let service)? = counter { service.close() }
    names.finish(with: false)
  }

  /// How many requests are being answered.
  var requestCount: Int { desk.count }

  /// Lets other processes make requests of another type.
  ///
  /// - Parameter type: the type.
  /// - Throws: ``RemoteError/invalid`` if its kind cannot be one.
  public func export<Request: RemoteRequest>(_ type: Request.Type) throws {
    guard isKind(Request.kind) else { throw RemoteError.invalid.about(Request.kind) }
    desk.add(type)
    guard case .bus(let server)? = counter.withLock({ $0 }) else { return }
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
    desk.remove(Request.kind)
    if case .bus(let server)? = counter.withLock({ $0 }) { server.withdraw(Request.kind) }
  }
}
