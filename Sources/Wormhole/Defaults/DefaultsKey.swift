// Names a shared value.

internal import DarwinNotifySupport

/// The name of a value in the defaults of a group, with its type and what stands in for it.
///
/// Constants are best added in an extension:
///
///     extension DefaultsKey where Value == String {
///       static var theme: Self { DefaultsKey("theme", default: "light") }
///     }
public struct DefaultsKey<Value: Codable & Sendable>: Sendable {
  /// The name: any text but an empty one.
  public let name: String

  /// What is read where nothing is set.
  public let defaultValue: Value

  /// Makes a key.
  ///
  /// - Parameters:
  ///   - name: the name of the value.
  ///   - defaultValue: what is read where nothing is set. Programs may differ in that.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
  }
}

extension DefaultsKey: Hashable {
  /// Keys are equal if the bytes of their names are.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.name) == ExactString(right.name)
  }

  /// Feeds the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(name).hash(into: &hasher)
  }
}
