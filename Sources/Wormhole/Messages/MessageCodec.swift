// Encodes values as bytes.

public import FoundationEssentials

/// An encoding of values.
///
/// Its errors are reported as ``WormholeError/encoding`` or ``WormholeError/decoding``.
public protocol MessageCodec: Sendable {
  /// The identifier of the codec, which is stored with each message. Readers must use the same.
  var identifier: String { get }

  /// Returns the bytes of a value.
  func encode<Value: Encodable>(_ value: Value) throws -> Data

  /// Decodes a value from bytes, which are untrusted input.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// Encodes values as JSON, in UTF-8.
public struct JSONMessageCodec: MessageCodec {
  /// Creates the codec.
  public init() {}

  /// `json`.
  public var identifier: String { "json" }

  /// Returns the JSON text of a value, which need not be an object or an array.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    try JSONEncoder().encode(value)
  }

  /// Returns the value of a JSON text.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try JSONDecoder().decode(type, from: data)
  }
}

/// Encodes values as binary property lists.
///
/// Foundation decodes them recursively: if the type of the value is recursive, a list nested ten
/// thousand levels deep can crash the process.
public struct PropertyListMessageCodec: MessageCodec {
  /// Creates the codec.
  public init() {}

  /// `plist`.
  public var identifier: String { "plist" }

  /// Returns the binary property list of a value.
  ///
  /// Its root is an array with the value, since a root cannot be a number.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return try encoder.encode([value])
  }

  /// Returns the value of a property list.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    // XML lists, which this codec never writes, crash the process at a smaller depth.
    guard data.starts(with: Array("bplist00".utf8)) else {
      throw WormholeError.decoding("not a binary property list")
    }
    guard let value = try PropertyListDecoder().decode([Value].self, from: data).first else {
      throw WormholeError.decoding("the property list is empty")
    }
    return value
  }
}

/// Stores values of type `Data` as they are. They are written and mapped without a copy.
public struct RawMessageCodec: MessageCodec {
  /// Creates the codec.
  public init() {}

  /// `raw`.
  public var identifier: String { "raw" }

  /// Returns the bytes that are the value.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    guard let data = value as? Data else {
      throw WormholeError.encoding("only Data has raw bytes, not \(Value.self)")
    }
    return data
  }

  /// Returns the bytes as the value.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    guard let value = data as? Value else {
      throw WormholeError.decoding("raw bytes are Data, not \(Value.self)")
    }
    return value
  }
}

extension MessageCodec where Self == JSONMessageCodec {
  /// JSON, in UTF-8.
  public static var json: Self { JSONMessageCodec() }
}

extension MessageCodec where Self == PropertyListMessageCodec {
  /// A binary property list.
  public static var propertyList: Self { PropertyListMessageCodec() }
}

extension MessageCodec where Self == RawMessageCodec {
  /// The bytes of a `Data` as they are.
  public static var raw: Self { RawMessageCodec() }
}
