// The errors of functions that report nothing themselves.

public import Foundation

/// An error of a function of this module, as ``CFNotificationCenter/onError`` gets it.
public struct CFNotificationCenterError: Error, Sendable {
  /// The function that was called, such as `CFNotificationCenterPostNotification`.
  public let function: String

  /// The name that it was called with.
  public let name: CFString?

  /// The cause: an error of `DarwinNotify` or `DistributedNotifications`, or a missing argument.
  public let cause: any Error
}

extension CFNotificationCenterError: CustomStringConvertible, LocalizedError {
  /// The function, the name and the cause.
  public var description: String {
    let name = self.name.map { " (name \"\($0)\")" } ?? ""
    return "\(function): \(cause)\(name)"
  }

  /// The sentence, so that it is also the `localizedDescription`.
  public var errorDescription: String? { description }
}

/// An argument that a function cannot do without.
enum MissingArgument: String, Error, CustomStringConvertible {
  case callback = "there is no callback"
  case name = "there is no name"
  case observer = "there is no observer"

  var description: String { rawValue }
}
