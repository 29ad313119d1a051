// Lists what names can keep, for tests that are repeated for each.
import Wormhole

/// What the number of a site keeps.
enum Kept: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
  case newest, history

  var testDescription: String { rawValue }

  /// Whether every message is kept.
  var isAll: Bool { self == .history }
}
