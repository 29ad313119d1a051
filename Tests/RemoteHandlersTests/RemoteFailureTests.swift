// Specifies the errors that travel to the callers of other processes as values.
import DarwinNotify
import Foundation
import RemoteHandlers
import TestTools
import Testing

/// A request whose handlers throw errors for the caller.
private struct Save: RemoteRequest {
  static let kind = "org.example.Player.Save"

  enum Failure: Error, Codable, Equatable {
    case full(free: Int, until: Date?)
    case locked
    case listOf([String?])
  }

  var text: String
}

/// The same request in an older program.
private struct OldSave: RemoteRequest {
  static let kind = Save.kind
  var text: String
}

/// The same request in a newer program.
private struct NewSave: RemoteRequest {
  static let kind = Save.kind
  enum Failure: Error, Codable { case later(days: Int) }
  var text: String
}

/// A request whose error is one value.
private struct Lock: RemoteRequest {
  static let kind = "org.example.Player.Lock"
  enum Failure: String, Error, Codable { case held = "held by another" }
}

/// What the example of a player plays.
private struct Play: RemoteRequest {
  static let kind = "org.example.Player.Play"
  typealias Response = String
  enum Failure: Error, Codable, Equatable { case noSuchTrack(number: Int, count: Int) }
  var number: Int
}

private struct Sadness: Error, CustomStringConvertible {
  let description = "a sad sentence"
}

@Suite(.bounded)
struct RemoteFailureTests {
  private static let full = Save.Failure.full(free: 3, until: Date(timeIntervalSince1970: 9))

  /// On each bus, and without one.
  private static let grounds = BusKind.both.map { $0 as BusKind? } + [nil]

  private func makeStage(_ kind: BusKind?) throws -> RemoteStage {
    if let kind { return try RemoteStage(kind) }
    return RemoteStage(isolated: try .isolated(), beside: try PrivateBus(.usual))
  }

  /// Sends a request and returns the error as text.
  private func textOfError(
    of request: some RemoteRequest, to stage: RemoteStage
  ) async -> String? {
    do {
      _ = try await stage.callers.send(request, to: stage.player, timeout: .seconds(60))
      return nil
    } catch BusError.failed {
      return "failed"
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: grounds)
  func declaredErrorsReachTheCallerAsTheyWereThrown(_ kind: BusKind?) async throws {
    let stage = try makeStage(kind)
    stage.handlers.handle(Save.self) { request in
      switch request.text {
      case "full": throw Self.full
      default: throw Save.Failure.locked
      }
    }
    stage.handlers.handle(Lock.self) { _ in throw Lock.Failure.held }
    let service = try await stage.serve([Save.self, Lock.self])
    await #expect(throws: Self.full) {
      try await stage.callers.send(Save(text: "full"), to: stage.player)
    }
    await #expect(throws: Lock.Failure.held) {
      try await stage.callers.send(Lock(), to: stage.player)
    }
    do {
      _ = try await stage.callers.send(Save(text: ""), to: stage.player)
      Issue.record("no error")
    } catch Save.Failure.locked {
    }
    withExtendedLifetime(service) {}
  }

  @Test(arguments: grounds)
  func otherErrorsReachTheCallerAsText(_ kind: BusKind?) async throws {
    let stage = try makeStage(kind)
    stage.handlers.handle(Save.self) { request in
      // No array can have nil.
      throw request.text == "nil" ? Save.Failure.listOf([nil]) : Sadness() as any Error
    }
    let service = try await stage.serve([Save.self])
    for text in ["nil", "sad"] {
      let error = await #expect(throws: BusError.self) {
        try await stage.callers.send(Save(text: text), to: stage.player)
      }
      let remote = try #require(error?.underlying as? RemoteError)
      #expect(remote.code == .failed && remote.detail.contains(text))
      #expect(remote.name == "org.darwinnotify.Error.Failed")
    }
    withExtendedLifetime(service) {}
  }

  @Test(arguments: grounds)
  func olderAndNewerProgramsGetTheText(_ kind: BusKind?) async throws {
    let stage = try makeStage(kind)
    let declaring = stage.handlers.handle(Save.self) { _ in throw Self.full }
    stage.handlers.handle(OldSave.self) { _ in throw Sadness() }
    var service: RemoteService? = try await stage.serve([Save.self])
    let old = await textOfError(of: OldSave(text: ""), to: stage)
    #expect(old == "failed")
    #expect(await textOfError(of: NewSave(text: ""), to: stage) == "failed")
    await service?.close()
    declaring.cancel()
    service = try await stage.serve([OldSave.self])
    #expect(await textOfError(of: Save(text: ""), to: stage) == "failed")
    withExtendedLifetime(service) {}
  }

  @Test(arguments: BusKind.both)
  func forwardedRequestsBringTheSameErrors(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.handlers.handle(Save.self) { _ in throw Self.full }
    let service = try await stage.serve([Save.self])
    stage.callers.forward(Save.self, to: stage.player)
    await #expect(throws: Self.full) { try await stage.callers.send(Save(text: "")) }
    stage.callers.handle(Save.self) { _ in throw Save.Failure.locked }
    await #expect(throws: Save.Failure.locked) { try await stage.callers.send(Save(text: "")) }
    withExtendedLifetime(service) {}
  }

  @Test(arguments: BusKind.both)
  func anotherProcessThrowsToThisOne(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let player = try Program("remote-player", [], on: stage.bus)
    await player.waitForLine("ready: true")
    await #expect(throws: Play.Failure.noSuchTrack(number: 9, count: 3)) {
      try await stage.callers.send(Play(number: 9), to: stage.player)
    }
    #expect(try await stage.callers.send(Play(number: 2), to: stage.player) == "Naima")
  }
}
