// Reports how requests were answered.

internal import DarwinNotifySupport

/// How a bus answered one request, or opened one URL.
public struct TraceEvent: Sendable {
  /// The kind of the request; `"open"` for a URL.
  public let kind: String

  /// The endpoint or platform it was sent to.
  public let endpoint: String?

  /// The request, or the URL.
  public let request: any Sendable

  /// The file and line that registered the chosen handler; `nil` if there was none.
  public let handler: String?

  /// How long the caller waited.
  public let duration: Duration

  /// The response or the error. For a URL, whether it was opened.
  public let result: Result<any Sendable, BusError>
}

extension HandlerBus {
  /// The outcome of all requests from now on, as they end.
  ///
  /// Every call returns a separate sequence. It keeps the latest 1024 events that have not been
  /// taken. Without a sequence nothing is measured.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it, or with the bus.
  public func trace() -> AsyncStream<TraceEvent> {
    tracers.makeStream()
  }
}

/// Holds the followers of the trace of a bus.
@usableFromInline final class TracerTable: Sendable {
  private typealias Continuation = AsyncStream<TraceEvent>.Continuation

  private let table = Locked<[ObjectIdentifier: Continuation]>([:])

  deinit {
    for continuation in table.withLock({ Array($0.values) }) { continuation.finish() }
  }

  func makeStream() -> AsyncStream<TraceEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TraceEvent.self, bufferingPolicy: .bufferingNewest(1024))
    let key = Key()
    table.withLock { $0[ObjectIdentifier(key)] = continuation }
    continuation.onTermination = { [weak self] _ in
      let ended = self?.table.withLock { $0.removeValue(forKey: ObjectIdentifier(key)) }
      withExtendedLifetime(ended) {}
    }
    return stream
  }

  /// Starts measuring a request, if anybody follows the trace.
  @usableFromInline func begin() -> Tracing? {
    table.withLock { $0.isEmpty } ? nil : Tracing(self)
  }

  fileprivate func record(_ event: TraceEvent) {
    for continuation in table.withLock({ Array($0.values) }) { continuation.yield(event) }
  }

  private final class Key: Sendable {}
}

/// Measures one request.
@usableFromInline package final class Tracing: Sendable {
  private let tracers: TracerTable
  private let start = ContinuousClock.now
  private let chosen = Locked<String?>(nil)

  init(_ tracers: TracerTable) {
    self.tracers = tracers
  }

  /// The origin of the handler that has the request.
  @usableFromInline package var handler: String? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  @usableFromInline func end(
    _ kind: String, _ endpoint: String?, _ request: any Sendable,
    _ result: Result<any Sendable, BusError>
  ) {
    tracers.record(
      TraceEvent(
        kind: kind, endpoint: endpoint, request: request, handler: handler,
        duration: ContinuousClock.now - start, result: result))
  }
}
