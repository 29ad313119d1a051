// Lists the transits that the tests are repeated for.
import Wormhole

/// A transit of the library, with the name that peers use for it.
enum TransitKind: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
  case file
  case durableFile = "durable-file"
  case coordinatedFile = "coordinated-file"
  case log
  case durableLog = "durable-log"

  var testDescription: String { rawValue }

  var transit: any MessageTransit {
    switch self {
    case .file: .file
    case .durableFile: .file(durable: true)
    case .coordinatedFile: .coordinatedFile
    case .log: .log
    case .durableLog: .log(durable: true)
    }
  }

  /// Whether every message is kept.
  var keepsAll: Bool { self == .log || self == .durableLog }

  /// Each kind of storage once.
  static let kinds: [Self] = [.file, .coordinatedFile, .log]

  /// The kinds that keep the newest message in a file.
  static let files: [Self] = [.file, .durableFile, .coordinatedFile]

  /// The kinds with a lock for updates.
  static let coordinated: [Self] = [.coordinatedFile, .log]
}
