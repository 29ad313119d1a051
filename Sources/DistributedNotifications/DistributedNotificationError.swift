// The errors of this module.

public import DarwinNotify

/// Why a distributed notification was not posted, or an observer not added.
public enum DistributedNotificationError: Error, Hashable, Sendable {
  /// A value is not part of a property list: it has another type than `String`, `Bool`, an integer
  /// or floating-point number, `Data`, `Date`, an array or a dictionary of these with keys that are
  /// strings, or the classes of Foundation for them. Nothing was sent.
  ///
  /// - Parameters:
  ///   - path: where the value stands, such as `userInfo["songs"][2]`.
  ///   - type: the type of the value, such as `URL`.
  case notAPropertyList(path: String, type: String)

  /// What the library below has said.
  case failed(DarwinNotifyError)
}

extension DistributedNotificationError: CustomStringConvertible {
  /// What happened, in words.
  public var description: String {
    switch self {
    case .notAPropertyList(let path, let type): "\(path) is no property list, but \(type)"
    case .failed(let error): "\(error)"
    }
  }
}
