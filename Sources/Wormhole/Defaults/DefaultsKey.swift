// Names a value of the defaults.

internal import DarwinNotifySupport
internal import FoundationEssentials

/// The name of a value in the defaults of a group, with its type and default.
///
/// Constants are best defined in an extension:
///
///     extension DefaultsKey where Value == String {
///       static var theme: Self { DefaultsKey("theme", default: "light") }
///     }
public struct DefaultsKey<Value: Codable & Sendable>: Sendable {
  /// The name: 1 to 255 bytes without a NUL.
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

extension DefaultsKey {
  /// Decodes what is stored under the key.
  func value(of content: StoredContent?) throws(WormholeError) -> Value {
    switch content {
    case .value(let value): try decode(value)
    case .unreadable(let error): throw error
    case .ping, .cleared, nil: defaultValue
    }
  }

  private func decode(_ stored: StoredValue) throws(WormholeError) -> Value {
    guard stored.codec == Self.codec else {
      throw .codecMismatch(name: name, expected: Self.codec, found: stored.codec)
    }
    do {
      return try JSONDecoder().decode(Value.self, from: stored.data)
    } catch {
      throw .decoding("\(name): \(sentence(of: error))")
    }
  }

  /// Encodes a value. Equal values have equal bytes, so setting one again is not a change.
  func encode(_ value: Value) throws(WormholeError) -> StoredValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      return StoredValue(codec: Self.codec, data: try encoder.encode(value))
    } catch {
      throw .encoding("\(name): \(sentence(of: error))")
    }
  }

  private static var codec: String { "json" }
}
