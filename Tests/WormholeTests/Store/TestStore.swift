// Sets up a store for one test.
import TestSupport

@testable import Wormhole

/// A store in a directory that nobody else uses.
final class TestStore: Sendable {
  let directory: String
  let store: MessageStore
  private let center: DarwinNotificationCenter

  init() throws {
    directory = String(cString: try #require(test_directory())) + "/store-\(UUID().uuidString)"
    center = try .isolated()
    store = Self.open(directory, center)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: directory)
  }

  var path: String { store.path }

  /// The same file as another object of the program has it.
  func openAgain(_ post: String = "org.example.store.") -> MessageStore {
    Self.open(directory, center, post)
  }

  private static func open(
    _ directory: String, _ center: DarwinNotificationCenter, _ post: String = "org.example.store."
  ) -> MessageStore {
    MessageStore("messages.sqlite", in: directory, post: post, center: center)
  }

  /// Passes numbers as JSON. Returns the number of the last record.
  @discardableResult func pass(
    _ numbers: some Sequence<Int>, to name: String = "a", keep: Int? = nil
  ) throws -> UInt64 {
    var last: UInt64 = 0
    for number in numbers { last = try store.pass(.json("\(number)", keep: keep), to: name) }
    return last
  }

  /// The values that are kept, as texts.
  func history(_ name: String = "a", after number: UInt64 = 0) throws -> [String] {
    try store.history(of: name, after: number).map { $0.text }
  }

  /// Runs another program to its end. Returns its exit status.
  @discardableResult func run(_ program: String, _ arguments: [String]) async -> Int32? {
    guard let process = try? SpawnedProcess(program, arguments, environment: [:]) else {
      return nil
    }
    defer { [process.output, process.errors].forEach { close($0) } }
    process.wait()
    return process.reap()
  }
}

extension RecordDraft {
  static func json(_ text: String, keep: Int? = nil) -> Self {
    Self(.value(StoredValue(codec: "json", data: Data(text.utf8))), keep: keep)
  }
}

extension StoredRecord {
  /// The value as a text.
  var text: String {
    guard case .value(let value) = content else { return "\(content)" }
    return String(decoding: value.data, as: UTF8.self)
  }
}
