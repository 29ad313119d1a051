// Uses a group from another process.
import Wormhole

extension TemporaryGroup {
  /// Starts a program that uses the group.
  func peer(_ command: String..., on bus: PrivateBus? = nil) throws -> Program {
    let environment = bus == nil ? ["DARWIN_NOTIFY_BUS": "none"] : [:]
    return try Program(
      "group-peer", [parent, group.identifier] + command, on: bus, environment: environment)
  }
}
