// Names a value in the defaults of a group.

internal import DarwinNotifySupport

/// The name of a value in the defaults of a group, with its type and default.
///
/// Constants are best defined in an extension:
///
///     extension DefaultsKey where Value == String {
///       static var theme: Self { DefaultsKey("theme", default: "light") }
///     }
public struct DefaultsKey<Value: Codable & Sendable>: Sendable {
  /// The name: any nonempty text.
  public let name: String

  /// The value to read if nothing is set.
  public let defaultValue: Value

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: the name of the value.
  ///   - defaultValue: the value to read if nothing is set. Programs may use different ones.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
  }
}

extension DefaultsKey: Hashable {
  /// Returns whether the names of two keys have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.name) == ExactString(right.name)
  }

  /// Feeds the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(name).hash(into: &hasher)
  }
}
