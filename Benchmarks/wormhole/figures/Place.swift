// Says where things are, in all processes of the benchmark.

import DarwinNotify
import Foundation
import TestSupport
import Wormhole

enum Place {
  /// A file or directory that goes with the benchmark.
  static func path(_ name: String) -> String {
    guard let directory = test_directory() else { preconditionFailure("there is no directory") }
    return "\(String(cString: directory))/\(name)"
  }

  /// The wormhole of the benchmark. Each process opens it once or more.
  static func openWormhole(center: DarwinNotificationCenter = .shared) throws -> Wormhole {
    try Wormhole(group: AppGroup("org.example.figures", center: center))
  }
}

/// A small value, whose JSON text has about 100 bytes.
struct Reading: Codable, Sendable {
  var sensor = "living-room/temperature"
  var value = 21.5
  var unit = "degrees Celsius"
  var count = 1
  var isCalibrated = true
}
