// Sends requests to other processes.

public import Delegation
internal import DarwinNotify

extension HandlerBus {
  /// Sends a request to another process and waits for the answer.
  ///
  /// It passes the interceptors of the bus and appears in its trace, like a request to a handler.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the service that answers.
  ///   - timeout: how long to wait for interceptors, the start of the service and the answer
  ///     together; `nil` to wait forever.
  /// - Returns: the response of the handler over there.
  /// - Throws: the `BusRequest.Failure` that the remote handler threw, and every case of
  ///   `BusError`; `failed` with a ``RemoteError`` if the service was not reached, or its handler
  ///   failed in another way. When the timeout expires or the task is cancelled, it throws at once,
  ///   and the remote handler's task is cancelled.
  public func send<Request: RemoteRequest>(
    _ request: Request, to destination: RemoteDestination, timeout: Duration? = nil
  ) async throws -> Request.Response {
    try await send(request, endpoint: destination.name, timeout: timeout, beginsHere: true) {
      request, tracing in
      tracing?.handler = destination.name
      return try await destination.ask(request)
    }.get(throwing: Request.Failure.self)
  }
}

extension HandlerRegistry {
  /// Lets a service in another process answer the requests of a type that no handler of this
  /// process takes.
  ///
  /// A service must not forward to itself.
  ///
  /// - Parameters:
  ///   - type: the type of the requests.
  ///   - destination: the service. If it is unavailable or declines, the next one is asked.
  ///   - priority: by default after all handlers with a priority of their own.
  ///   - origin: the file in the trace.
  ///   - line: the line in the trace.
  /// - Returns: the registration.
  @discardableResult public func forward<Request: RemoteRequest>(
    _ type: Request.Type, to destination: RemoteDestination, priority: Int = .min,
    origin: String = #fileID, line: Int = #line
  ) -> HandlerRegistration {
    handle(type, priority: priority, origin: origin, line: line) { request in
      do {
        return try await destination.ask(request)
      } catch let error as BusError {
        // Another service may be asked: this one has not begun.
        switch error.code {
        case .unavailable:
          throw Decline("\(destination): " + error.reasons.joined(separator: ", "))
        case .missingHandler: throw Decline("\(error)")
        default: throw error
        }
      } catch RemoteError.notConnected, RemoteError.noService {
        throw Decline("\(destination) cannot be reached")
      }
    }
  }
}

extension RemoteDestination {
  /// Asks the service. Cancelling the task cancels the call.
  func ask<Request: RemoteRequest>(_ request: Request) async throws -> Request.Response {
    let arguments = try encodeArguments(request)
    do {
      return try decodeResponse(try await ask(Request.kind, arguments), of: Request.self)
    } catch let refusal as Refusal {
      throw refusal.error(of: Request.self, service: name)
    }
  }

  /// Throws a ``Refusal`` if the service answers with an error.
  private func ask(_ kind: String, _ arguments: PropertyList) async throws -> PropertyList? {
    if let service = Loopback.find(name, on: center) {
      return try await service.ask(kind, arguments)
    }
    let outcome = try await PendingCall(kind, of: self, arguments).outcome()
    if let error = outcome.error(kind: kind, service: name) { throw error }
    return outcome.reply
  }
}
