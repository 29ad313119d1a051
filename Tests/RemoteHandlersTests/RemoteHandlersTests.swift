// Specifies requests to handlers in other processes.
import DarwinNotify
import Foundation
import Glibc
@testable import RemoteHandlers
import TestTools
import Testing

private struct Sadness: Error, CustomStringConvertible {
  let description = "a sad sentence"
}

/// What the example of a player plays.
private struct Play: RemoteRequest {
  static let kind = "org.example.Player.Play"
  typealias Response = String
  var number: Int
  var seconds: Double
}

@Suite(.bounded)
struct RemoteHandlersTests {
  @Test(arguments: BusKind.both) func handlerAnswersAnotherProcess(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.handlers.handle(Search.self) { [$0.text.count, $0.limit ?? -1] }
    stage.handlers.handle(Pause.self) { _ in NoResponse() }
    let service = try await stage.serve()
    #expect(service.hasName)
    #expect(await stage.search("blue").hits == [4, -1])
    let limited = Search(text: "", limit: 7)
    #expect(try await stage.callers.send(limited, to: stage.player) == [0, 7])
    #expect(try await stage.callers.send(Pause(), to: stage.player) == NoResponse())
  }

  @Test func nothingIsKeptOfARequestThatWasAnswered() async throws {
    let stage = try RemoteStage(.usual)
    let (isOpen, open) = AsyncStream<Never>.makeStream()
    stage.handlers.handle(Search.self) { _ in
      for await _ in isOpen {}
      return []
    }
    let service = try await stage.serve()
    let answers = Task { await (stage.search("").hits, stage.search("").hits) }
    await eventually { service.requestCount == 1 }
    open.finish()
    #expect(await answers.value == ([], []))
    await eventually { service.requestCount == 0 }
  }

  // MARK: - Errors

  @Test(arguments: BusKind.both) func errorsKeepTheirMeaning(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let service = try await stage.serve()
    #expect(await stage.search("nobody").sentence?.contains("no handler") == true)
    stage.handlers.handle(Search.self) { request in
      switch request.text {
      case "decline": throw Decline("not today")
      case "cancel": throw CancellationError()
      case "timeout": throw BusError.timedOut
      case "fail": throw Sadness()
      default: throw BusError.unanswered
      }
    }
    let declined = await stage.search("decline").error
    #expect(declined?.reasons == ["not today"] && declined?.endpoint == RemoteStage.name)
    #expect(await stage.search("cancel").sentence == "cancelled")
    #expect(await stage.search("timeout").sentence == "no answer in time")
    #expect(await stage.search("").sentence?.hasSuffix("did not answer") == true)
    #expect(await stage.search("fail").remoteError?.detail == "a sad sentence")
    service.withdraw(Search.self)
    #expect(await stage.search("").error == .missingHandler)
    try service.export(Search.self)
    #expect(await stage.search("fail").remoteError != nil)
  }

  @Test(arguments: BusKind.both)
  func namesThatNobodyOwnsAndBusesThatAreNotThereAreErrors(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    #expect(await stage.search("").sentence == "failed: there is no service org.example.Player")
    let elsewhere = RemoteDestination(
      RemoteStage.name, on: try DarwinNotificationCenter(bus: .noBus))
    do {
      _ = try await stage.callers.send(Pause(), to: elsewhere)
    } catch {
      #expect("\(error)".contains("not connected"))
    }
    stage.bus.kill()
    await eventually { await stage.search("").sentence == "failed: not connected to a bus" }
    let invalid = RemoteDestination("no dots", on: stage.calling)
    do {
      _ = try await stage.callers.send(Pause(), to: invalid)
    } catch {
      #expect("\(error)".contains("invalid: no dots"))
    }
  }

  @Test func aServiceWhoseNameContainsANULIsRefused() async throws {
    let stage = try RemoteStage(.usual)
    await #expect(throws: RemoteError.self) {
      _ = try await RemoteService(
        name: "org.example.Player\0x", exporting: stage.handlers, [Search.self], on: stage.serving)
    }
    #expect(await stage.search("").sentence == "failed: there is no service org.example.Player")
  }

  @Test func aKindThatCannotBeOneIsNamed() async throws {
    struct Malformed: RemoteRequest { static let kind = "Pause" }
    let stage = try RemoteStage(.usual)
    await #expect { try await stage.serve([Search.self, Malformed.self]) } throws: {
      "\($0)" == "invalid: Pause"
    }
    let service = try await stage.serve()
    #expect { try service.export(Malformed.self) } throws: { "\($0)" == "invalid: Pause" }
    await #expect { try await stage.callers.send(Malformed(), to: stage.player) } throws: {
      "\($0)" == "failed: invalid: Pause"
    }
  }

  // MARK: - Without a bus

  @Test(arguments: [true, false])
  func aServiceWithoutABusAnswersItsOwnProcess(_ isIsolated: Bool) async throws {
    let center = try isIsolated ? .isolated() : DarwinNotificationCenter(bus: .noBus)
    let stage = RemoteStage(isolated: center, beside: try PrivateBus(.usual))
    #expect(await stage.search("").sentence == "failed: not connected to a bus")
    stage.handlers.handle(Search.self) { request in
      switch request.text {
      case "decline": throw Decline("not today")
      case "fail": throw Sadness()
      default:
        let caller = try #require(RemoteService.caller)
        return [Int(try #require(caller.process)), caller.isOwn ? 1 : 0]
      }
    }
    var service: RemoteService? = try await stage.serve([Search.self])
    #expect(service?.hasName == true)
    #expect(await stage.search("").hits == [Int(getpid()), 1])
    #expect(await stage.search("decline").error?.reasons == ["not today"])
    #expect(await stage.search("fail").remoteError?.detail == "a sad sentence")
    await #expect { try await stage.callers.send(Pause(), to: stage.player) } throws: {
      "\($0)" == "no handler for \(Pause.kind) at \(RemoteStage.name)"
    }
    await #expect { try await stage.serve() } throws: { "\($0)".hasSuffix("is taken") }
    let second = try await stage.serve([Search.self], queueing: true)
    #expect(!second.hasName)
    service = nil
    #expect(second.hasName)
    #expect(await stage.search("").hits == [Int(getpid()), 1])
  }

  @Test(arguments: BusKind.both) func lossOfTheBusIsReportedAtOnce(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let died = Log<String>()
    stage.handlers.handle(Search.self) { _ in
      died.append("begun")
      try await Task.sleep(for: .seconds(600))
      return []
    }
    let service = try await stage.serve()
    let result = Task { await stage.search("", timeout: nil) }
    await eventually { died.entries == ["begun"] }
    stage.bus.kill()
    #expect(await result.value.sentence == "failed: not connected to a bus")
    stage.bus.startAgain()
    await eventually { service.hasName }
  }

  @Test(arguments: BusKind.both)
  func deathOfTheServiceIsReportedAtOnce(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    var player: Program? = try Program("remote-player", [], on: stage.bus)
    await player?.waitForLine("ready: true")
    let playing = Task {
      do {
        return try await stage.callers.send(Play(number: 2, seconds: 600), to: stage.player)
      } catch {
        return "\(error)"
      }
    }
    await player?.waitForLine("plays Naima for process \(getpid())")
    player = nil
    #expect(await playing.value == "failed: \(RemoteStage.name) has left the bus")
  }

  // MARK: - Cancelling

  @Test(arguments: [true, false])
  func handlerOverThereIsCancelled(_ byTimeout: Bool) async throws {
    let stage = try RemoteStage(.usual)
    let log = Log<String>()
    stage.handlers.handle(Search.self) { _ in
      log.append("begun")
      do {
        try await Task.sleep(for: .seconds(600))
      } catch {
        log.append("cancelled")
      }
      return []
    }
    let service = try await stage.serve()
    var error: BusError?
    if byTimeout {
      var timeout = Duration.milliseconds(100)
      repeat {  // on a busy machine the handler may not have begun in time
        timeout *= 2
        error = await stage.search("", timeout: timeout).error
      } while log.entries.isEmpty
    } else {
      let task = Task { await stage.search("", timeout: nil) }
      await eventually { log.entries.first == "begun" }
      task.cancel()
      error = await task.value.error
    }
    #expect("\(error as Any)".contains(byTimeout ? "no answer in time" : "cancelled"))
    await eventually { log.entries == ["begun", "cancelled"] }
    withExtendedLifetime(service) {}
  }

  @Test(arguments: BusKind.both)
  func callsBeyondTheLimitWaitForTheirTurn(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.handlers.handle(Search.self) { request in
      await Task.yield()
      return [request.limit ?? 0]
    }
    let service = try await stage.serve()
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...2000 {
        group.addTask {
          try await stage.callers.send(Search(text: "", limit: number), to: stage.player)[0]
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 2000 * 2001 / 2)
    withExtendedLifetime(service) {}
  }

  // More requests than the cooperative pool has threads.
  @Test(arguments: BusKind.both)
  func requestsAreAnsweredAndCancelledWhileOtherHandlersBlock(_ kind: BusKind) async throws {
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
    let stage = try RemoteStage(kind)
    let log = Log<String>()
    let isFree = DispatchSemaphore(value: 0)
    stage.handlers.handle(Search.self) { request in
      log.append(request.text)
      guard request.text == "wait" else {
        blockThread(until: isFree)
        return [1]
      }
      do { try await Task.sleep(for: .seconds(600)) } catch { log.append("cancelled") }
      return []
    }
    let service = try await stage.serve()
    let waiting = Task { await stage.search("wait") }
    await eventually { log.entries == ["wait"] }
    let blocked = (1...count).map { _ in Task { await stage.search("block") } }
    await eventually { log.entries.count == count + 1 }
    waiting.cancel()
    #expect(await waiting.value.sentence == "cancelled")
    await eventually { log.entries.last == "cancelled" }
    for _ in 1...count { isFree.signal() }
    for task in blocked { #expect(await task.value.hits == [1]) }
    withExtendedLifetime(service) {}
  }

  @Test func aFunctionThatAdmitsCallersMayBlock() async throws {
    let stage = try RemoteStage(.usual)
    let isFree = DispatchSemaphore(value: 0)
    let asked = Log<String>()
    stage.handlers.handle(Search.self) { _ in [1] }
    let service = try await stage.serve { _ in
      asked.append("asked")
      if asked.entries.count == 1 { blockThread(until: isFree) }
      return true
    }
    let first = Task { await stage.search("first") }
    await eventually { asked.entries.count == 1 }
    #expect(await stage.search("second").hits == [1])
    isFree.signal()
    #expect(await first.value.hits == [1])
    withExtendedLifetime(service) {}
  }

  // MARK: - The same as for local requests

  @Test(arguments: BusKind.both)
  func interceptorsAndTraceSeeRemoteRequestsOnBothSides(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.handlers.handle(Search.self) { [$0.text.count] }
    stage.handlers.intercept(Search.self) { request, next in
      try await next(Search(text: request.text + "!"))
    }
    stage.callers.intercept(Search.self) { request, next in
      try await next(Search(text: request.text + "?"))
    }
    let service = try await stage.serve()
    var sent = stage.callers.trace().makeAsyncIterator()
    var served = stage.handlers.trace().makeAsyncIterator()
    #expect(await stage.search("blue").hits == [6])
    let event = await sent.next()
    #expect(event?.endpoint == RemoteStage.name && event?.handler == RemoteStage.name)
    #expect(await served.next()?.kind == Search.kind)
    withExtendedLifetime(service) {}
  }

  @Test(arguments: BusKind.both)
  func forwardingAnswersWhatNoLocalHandlerTakes(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.handlers.handle(Search.self) { _ in [1] }
    stage.callers.forward(Search.self, to: stage.player)
    do {
      _ = try await stage.callers.send(Search(text: ""))
      Issue.record("nobody is there")
    } catch {
      #expect("\(error)".contains("cannot be reached"))
    }
    let service = try await stage.serve()
    #expect(try await stage.callers.send(Search(text: "")) == [1])
    stage.callers.handle(Search.self) { request in
      guard request.text != "decline" else { throw Decline("") }
      return [2]
    }
    #expect(try await stage.callers.send(Search(text: "")) == [2])
    #expect(try await stage.callers.send(Search(text: "decline")) == [1])
    withExtendedLifetime(service) {}
  }

  // MARK: - The end of a service

  @Test(arguments: BusKind.both)
  func aServiceThatIsClosedFinishesWhatItHasBegun(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let log = Log<String>()
    let (isOpen, open) = AsyncStream<Never>.makeStream()
    stage.handlers.handle(Search.self) { _ in
      log.append("begun")
      for await _ in isOpen {}
      return [1]
    }
    let service = try await stage.serve()
    let running = Task {
      await service.run()
      log.append("closed")
    }
    let answer = Task { await stage.search("") }
    await eventually { log.entries == ["begun"] }
    running.cancel()
    await eventually { !service.hasName }
    await eventually { await stage.search("").remoteError == .noService }
    #expect(log.entries == ["begun"])
    open.finish()
    #expect(await answer.value.hits == [1])
    await running.value
    #expect(log.entries == ["begun", "closed"])
    #expect(await service.close())
  }

  @Test(arguments: BusKind.both)
  func closingAServiceCancelsWhatIsNotAnsweredInTime(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let log = Log<String>()
    stage.handlers.handle(Search.self) { _ in
      log.append("begun")
      try await Task.sleep(for: .seconds(600))
      return []
    }
    let service = try await stage.serve()
    let answer = Task { await stage.search("") }
    await eventually { log.entries == ["begun"] }
    #expect(await !service.close(timeout: .milliseconds(10)))
    #expect(await answer.value.error == .cancelled)
    #expect(await service.close())
  }

  @Test func aServiceThatIsClosedRefusesWhatWasOnItsWay() async throws {
    let stage = RemoteStage(isolated: try .isolated(), beside: try PrivateBus(.usual))
    stage.handlers.handle(Pause.self) { _ in NoResponse() }
    let service = try await stage.serve()
    let found = try #require(Loopback.find(RemoteStage.name, on: stage.serving))
    #expect(await service.close())
    let arguments = try encodeArguments(Pause())
    await #expect { try await found.ask(Pause.kind, arguments) } throws: {
      ($0 as? Refusal)?.name == RequestServer.unavailable
    }
  }

  // MARK: - Access

  @Test(arguments: BusKind.both)
  func handlersAndTheServiceSeeTheCaller(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let isOpen = Log<Bool>()
    stage.handlers.handle(Search.self) { _ in
      let caller = try #require(RemoteService.caller)
      #expect(caller.isOwn == false && caller.connection?.hasPrefix(":") == true)
      return [Int(try #require(caller.process)), Int(try #require(caller.user))]
    }
    let service = try await stage.serve { $0.isSameUser && !isOpen.entries.isEmpty }
    #expect(await stage.search("").sentence?.hasPrefix("failed: not allowed: ") == true)
    isOpen.append(true)
    #expect(await stage.search("").hits == [Int(getpid()), Int(geteuid())])
    #expect(RemoteService.caller == nil)
    withExtendedLifetime(service) {}
  }

  @Test(arguments: BusKind.both) func takenNameIsAnErrorOrWaitedFor(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    var first: RemoteService? = try await RemoteService(
      name: RemoteStage.name, exporting: HandlerBus(), [], on: stage.calling)
    await #expect { try await stage.serve() } throws: { "\($0)".hasSuffix("is taken") }
    let second = try await stage.serve(queueing: true)
    #expect(first?.hasName == true && !second.hasName)
    first = nil
    await eventually { second.hasName }
  }
}

/// Blocks the thread, as C code does.
private func blockThread(until semaphore: DispatchSemaphore) {
  semaphore.wait()
}

extension BusKind {
  /// Both message brokers, if they are installed.
  static let both = [daemon, broker].filter(\.isInstalled)
}
