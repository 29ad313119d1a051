// Encodes values as bytes.

internal import FoundationEssentials

/// An encoding of values. Its name is stored with each message; readers must use the same one.
public enum MessageCodec: String, Sendable {
  /// JSON, in UTF-8.
  case json

  /// A binary property list, nested up to 512 levels deep.
  case propertyList = "plist"

  /// The bytes of a `Data` as they are.
  case raw
}

extension MessageCodec {
  /// Returns the bytes of a value.
  func encode<Value: Encodable>(_ value: Value) throws -> Data {
    switch self {
    case .json: return try JSONEncoder().encode(value)
    case .propertyList:
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      // The root cannot be a number.
      return try encoder.encode([value])
    case .raw:
      guard let data = value as? Data else {
        throw WormholeError.encoding("only Data has raw bytes, not \(Value.self)")
      }
      return data
    }
  }

  /// Decodes a value from bytes, which are untrusted input.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    switch self {
    case .json: return try JSONDecoder().decode(type, from: data)
    case .propertyList:
      try BinaryPropertyList.check(data)
      guard let value = try PropertyListDecoder().decode([Value].self, from: data).first else {
        throw WormholeError.decoding("the property list is empty")
      }
      return value
    case .raw:
      guard let value = data as? Value else {
        throw WormholeError.decoding("raw bytes are Data, not \(Value.self)")
      }
      return value
    }
  }
}
