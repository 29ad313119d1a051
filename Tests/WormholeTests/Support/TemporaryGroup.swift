// Creates an app group for one test.
import Synchronization
import TestSupport
import Wormhole

/// An app group in a directory that nobody else uses. The directory is removed with this object.
///
/// Without a bus, only this process hears the group, and each of its objects separately.
final class TemporaryGroup: Sendable {
  let group: AppGroup

  /// The directory of groups.
  let parent: String

  private let bus: PrivateBus?
  private let identifier: String
  private static let made = Atomic<Int>(0)

  init(_ bus: PrivateBus? = nil, identifier: String = "org.example.group") throws {
    parent = String(cString: try #require(test_directory())) + "/group-\(Self.next())"
    self.bus = bus
    self.identifier = identifier
    group = try Self.makeGroup(identifier, in: parent, on: bus)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: parent)
  }

  /// The directory of the group.
  var path: String { group.directory.path }

  /// The same group as seen by another process: with its own center.
  func make() throws -> AppGroup {
    try Self.makeGroup(identifier, in: parent, on: bus)
  }

  private static func next() -> Int { made.add(1, ordering: .relaxed).newValue }

  /// An address for a bus where nobody listens, and that nobody else uses.
  private static func makeGroup(
    _ identifier: String, in parent: String, on bus: PrivateBus?
  ) throws -> AppGroup {
    let nobody = "unix:abstract=/darwinnotify-test-\(getpid())/\(next())"
    let center = try bus?.makeCenter() ?? DarwinNotificationCenter(bus: .address(nobody))
    return try AppGroup(identifier, in: URL(fileURLWithPath: parent), center: center)
  }
}
