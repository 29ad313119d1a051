// Makes requests of other processes, and answers them, beside workers in C that do the same.

internal import Delegation
internal import Dispatch
internal import Glibc
internal import RemoteHandlers
internal import SoakBoard
internal import Synchronization

private let service = "org.example.Soak"

/// Is answered at once, with what was asked.
private struct Echo: RemoteRequest {
  static let kind = "org.example.Soak.Echo"
  typealias Response = String
  var text: String
}

/// Is never answered.
private struct Hold: RemoteRequest {
  static let kind = "org.example.Soak.Hold"
  typealias Response = NoResponse
  var text: String
}

// MARK: - Calls

private let bus = HandlerBus()
private let maximum = 64
private let open = Atomic(0)
private let number = Atomic(0)
private let held = Atomic(0)

func call() {
  soak_act { what in
    switch what {
    case .max: callUntilAnswered()
    case _ where open.load(ordering: .relaxed) >= maximum: break
    case _ where what % 4 == 0: begin { await hold(timeout: .milliseconds(50)) }
    case _ where what % 4 == 1: callAndCancel()
    default: begin { _ = await echo() }
    }
  }
}

@discardableResult
private func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
  open.add(1, ordering: .relaxed)
  soak_call_begins()
  return Task {
    await work()
    open.subtract(1, ordering: .relaxed)
    soak_call_has_ended()
  }
}

private func callUntilAnswered() {
  let answered = DispatchSemaphore(value: 0)
  begin {
    while !(await echo()) { try? await Task.sleep(for: .milliseconds(5)) }
    answered.signal()
  }
  answered.wait()
}

private func callAndCancel() {
  let task = begin { await hold(timeout: nil) }
  usleep(500)
  task.cancel()
}

/// Returns whether there was an answer.
private func echo() async -> Bool {
  let text = "\(getpid()) \(number.add(1, ordering: .relaxed).newValue)"
  soak_note("calls", "\"call\":\"\(text)\"")
  do {
    let answer = try await bus.send(Echo(text: text), to: RemoteDestination(service))
    soak_note("ends", "\"call\":\"\(text)\",\"error\":0,\"reply\":\"\(answer)\"")
    if answer != text { soak_report("\(text) gets the reply \(answer)") }
    return true
  } catch {
    soak_note("ends", "\"call\":\"\(text)\",\"error\":1,\"reply\":\"\"")
    judge(error)
    return false
  }
}

private func hold(timeout: Duration?) async {
  let text = "\(getpid()) \(number.add(1, ordering: .relaxed).newValue)"
  soak_note("calls", "\"call\":\"\(text)\"")
  do {
    _ = try await bus.send(Hold(text: text), to: RemoteDestination(service), timeout: timeout)
    soak_report("what is held was answered")
  } catch {
    soak_note("ends", "\"call\":\"\(text)\",\"error\":1,\"reply\":\"\"")
    judge(error)
  }
}

private func judge(_ error: any Error) {
  switch error {
  case BusError.timedOut, BusError.cancelled: return
  case let error as BusError:
    switch error.underlying {
    case RemoteError.noService?, RemoteError.serviceGone?, RemoteError.notConnected?: return
    default: break
    }
  default: break
  }
  soak_report("a call ends with: \(error)")
}

// MARK: - Answers

func serve() {
  bus.handle(Echo.self) { $0.text }
  bus.handle(Hold.self) { _ in
    held.add(1, ordering: .relaxed)
    soak_call_begins()
    defer { soak_call_has_ended() }
    // A sleep that is cancelled would keep its memory until it would have ended.
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
  }
  Task {
    await holdMany()
    do {
      let server = try await RemoteService(
        name: service, exporting: bus, [Echo.self, Hold.self], queueing: true)
      try await Task.sleep(for: .seconds(86_400))
      withExtendedLifetime(server) {}
    } catch {
      soak_report("the service ends: \(error)")
    }
  }
}

/// Takes the memory of as many requests as may be in progress, which stays with the process. While
/// another service has the name, it would otherwise seem to begin with none.
private func holdMany() async {
  let tasks = (0..<1024).map { _ in Task { _ = try? await bus.send(Hold(text: "")) } }
  while held.load(ordering: .relaxed) < tasks.count { try? await Task.sleep(for: .milliseconds(1)) }
  for task in tasks { task.cancel() }
  for task in tasks { await task.value }
}
