// Specifies how requests and responses travel.
import DarwinNotify
import Delegation
import Foundation
import RemoteHandlers
import TestTools
import Testing

/// A value of every kind.
private struct Everything: Codable, Hashable, Sendable {
  enum Choice: Codable, Hashable { case one, two(Int) }
  struct Part: Codable, Hashable { var name: String, value: Double? }

  var text = "ü"
  var flag = true
  var small: Int8 = -1
  var large = UInt64.max
  var real: Float = 0.5
  var data = Data([0, 255])
  var bytes: [UInt8] = [1, 2]
  var date = Date(timeIntervalSince1970: 1.5)
  var link = URL(string: "https://example.com/a")
  var none: Int?
  var parts = [Part(name: "a", value: 1), Part(name: "", value: nil)]
  var byName = ["key": [1, 2]]
  var choice = Choice.two(3)
}

/// Returns what it has.
private struct Echo<Value: Codable & Hashable & Sendable>: RemoteRequest {
  static var kind: String { "org.example.Player.Echo" }
  typealias Response = Value
  var value: Value
}

/// The same request, as an older and a newer program know it.
private struct Older: RemoteRequest {
  static let kind = "org.example.Player.Versions"
  typealias Response = String
  var text: String
}

private struct Newer: RemoteRequest {
  static let kind = "org.example.Player.Versions"
  typealias Response = String
  var text: String
  var added: Int?
}

/// What cannot travel.
private struct Holes: RemoteRequest {
  static let kind = "org.example.Player.Holes"
  typealias Response = NoResponse
  var values: [Int?]
}

@Suite(.bounded)
struct RemoteCodingTests {
  private func check<Value: Codable & Hashable & Sendable>(_ value: Value) async throws {
    let stage = try RemoteStage(.usual)
    stage.handlers.handle(Echo<Value>.self) { $0.value }
    let service = try await stage.serve([Echo<Value>.self])
    #expect(try await stage.callers.send(Echo(value: value), to: stage.player) == value)
    withExtendedLifetime(service) {}
  }

  @Test func valuesOfAllTypesTravel() async throws {
    try await check(Everything())
    try await check([Everything(), Everything()])
    try await check(Int?.none)
    try await check(Int?.some(0))
    try await check("")
    try await check([String]())
    try await check([[0.5], []])
  }

  @Test func fieldsCanBeAdded() async throws {
    let stage = try RemoteStage(.usual)
    stage.handlers.handle(Older.self) { $0.text }
    stage.handlers.handle(Newer.self) { "\($0.text) \($0.added ?? 0)" }
    var service: RemoteService? = try await stage.serve([Older.self])
    #expect(try await stage.callers.send(Newer(text: "a", added: 1), to: stage.player) == "a")
    service = nil
    await eventually { await stage.search("").sentence?.contains("no service") == true }
    service = try await stage.serve([Newer.self])
    #expect(try await stage.callers.send(Older(text: "a"), to: stage.player) == "a 0")
    withExtendedLifetime(service) {}
  }

  @Test func aValueThatDoesNotFitIsAnErrorThatSaysWhere() async throws {
    let stage = try RemoteStage(.usual)
    stage.handlers.handle(Search.self) { _ in [] }
    stage.handlers.handle(Echo<String>.self) { $0.value }
    let service = try await stage.serve([Search.self, Echo<String>.self])
    do {
      _ = try await stage.callers.send(Echo(value: 7), to: stage.player)
      Issue.record("a number was decoded as text")
    } catch {
      #expect("\(error)".contains("value is not a value of type String"))
    }
    do {
      _ = try await stage.callers.send(Holes(values: [nil]), to: stage.player)
      Issue.record("nil was sent in an array")
    } catch {
      #expect("\(error)".contains("nil, at values"))
    }
    let deep = Data(count: 17 * 1024 * 1024)
    do {
      _ = try await stage.callers.send(Echo(value: deep), to: stage.player)
      Issue.record("17 MiB were sent")
    } catch {
      #expect("\(error)".contains("too large"))
      #expect((error as? BusError)?.underlying as? RemoteError == .limitReached)
    }
    withExtendedLifetime(service) {}
  }
}
