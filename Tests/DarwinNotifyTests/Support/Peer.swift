// Uses the bus without the library.
import TestSupport

/// A plain D-Bus connection.
final class Peer: Poster, @unchecked Sendable {
  // One test uses it, one call at a time.
  private let peer: OpaquePointer

  init(_ address: String) throws {
    peer = try #require(test_peer_open(address))
    test_peer_watch(peer, "type='signal',path_namespace='\(TEST_WIRE_PATH)'")
  }

  deinit {
    test_peer_close(peer)
  }

  /// Posts like a program without the library.
  func post(_ name: NotificationName) {
    test_peer_post(peer, name.rawValue)
    test_peer_sync(peer)
  }

  /// The name of the next post on the bus.
  func nextPostedName() -> NotificationName {
    var signal = next()
    return NotificationName(Self.text(&signal.name))
  }

  /// How many rules the bus holds for a connection; `nil` if it does not report that.
  func countRules(of connection: String) -> Int? {
    let count = test_peer_n_rules(peer, connection)
    return count < 0 ? nil : count
  }

  /// The bus name of a center's connection.
  func connection(of center: DarwinNotificationCenter) throws -> String {
    try center.post("com.example.who")
    while true {
      var signal = next()
      if Self.text(&signal.name) == "com.example.who" {
        return Self.text(&signal.sender)
      }
    }
  }

  /// How many connections this process has on the bus, not counting this one.
  func countConnections() -> Int {
    Int(test_peer_n_connections(peer, getpid()))
  }

  private func next() -> test_signal {
    var signal = test_signal()
    test_peer_next(peer, &signal)
    return signal
  }

  /// Reads a field of `test_signal`, which Swift sees as a tuple.
  private static func text<Field>(_ field: inout Field) -> String {
    withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
