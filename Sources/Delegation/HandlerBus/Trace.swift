// Reports how requests were answered.

internal import DarwinNotifySupport

extension HandlerBus {
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

  /// The outcome of all requests from now on, as they end.
  ///
  /// Every call returns a separate sequence. It keeps the latest 1024 events that have not been
  /// taken. Without a sequence nothing is measured.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it, or with the bus.
  public func trace() -> AsyncStream<HandlerBus.TraceEvent> {
    tracers.makeStream()
  }
}

/// Holds the followers of the trace of a bus.
final class TracerTable: Sendable {
  private typealias Continuation = AsyncStream<HandlerBus.TraceEvent>.Continuation

  private let table = Locked<[ObjectIdentifier: Continuation]>([:])

  deinit {
    for continuation in table.withLock({ Array($0.values) }) { continuation.finish() }
  }

  func makeStream() -> AsyncStream<HandlerBus.TraceEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: HandlerBus.TraceEvent.self, bufferingPolicy: .bufferingNewest(1024))
    let key = Key()
    table.withLock { $0[ObjectIdentifier(key)] = continuation }
    continuation.onTermination = { [weak self] _ in
      _ = self?.table.withLock { $0.removeValue(forKey: ObjectIdentifier(key)) }
    }
    return stream
  }

  /// Runs work that answers a request, and reports how, if the trace has a consumer.
  func trace<Response: Sendable>(
    _ request: any Sendable, kind: String, _ endpoint: String?,
    _ work: (Tracing?) async -> Result<Response, BusError>
  ) async -> Result<Response, BusError> {
    guard table.withLock({ !$0.isEmpty }) else { return await work(nil) }
    let (tracing, start) = (Tracing(), ContinuousClock.now)
    let result = await work(tracing)
    let event = HandlerBus.TraceEvent(
      kind: kind, endpoint: endpoint, request: request, handler: tracing.handler,
      duration: ContinuousClock.now - start, result: result.map { $0 })
    for continuation in table.withLock({ Array($0.values) }) { continuation.yield(event) }
    return result
  }

  private final class Key: Sendable {}
}

/// Notes who answers a request.
package final class Tracing: Sendable {
  private let chosen = Locked<String?>(nil)

  /// The origin of the handler that has the request.
  package var handler: String? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}
