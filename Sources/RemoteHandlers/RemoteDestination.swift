// Where requests go.

public import DarwinNotify

/// A service of another process: a name on a bus.
public struct RemoteDestination: Sendable {
  /// The name of the service.
  public let name: String

  let center: DarwinNotificationCenter

  /// Creates a destination. Nobody needs to own the name yet.
  ///
  /// - Parameters:
  ///   - name: a well-known bus name, such as `org.example.Player`.
  ///   - center: the center whose bus to use.
  public init(_ name: String, on center: DarwinNotificationCenter = .shared) {
    self.name = name
    self.center = center
  }
}

extension RemoteDestination: CustomStringConvertible {
  /// The name of the service.
  public var description: String { name }
}
