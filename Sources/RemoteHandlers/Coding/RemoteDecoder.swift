// Decodes what other processes send.

internal import DarwinNotify
internal import Delegation

/// Decodes a request from what another process has sent.
func decodeArguments<Request: RemoteRequest>(
  _ list: PropertyList, of type: Request.Type
) throws -> Request {
  try decode(Request.self, from: list.read { RemoteValue($0) }, of: Request.kind)
}

/// Decodes the response to a request.
func decodeResponse<Request: RemoteRequest>(
  _ list: PropertyList?, of type: Request.Type
) throws -> Request.Response {
  var value = value(of: list)
  // Is sent where there is no value.
  if case .dictionary(let values) = value, values.isEmpty { value = .none }
  return try decode(Request.Response.self, from: value, of: Request.kind)
}

/// Decodes an error that a handler threw for the caller.
func decodeFailure<Request: RemoteRequest>(
  _ list: PropertyList, of type: Request.Type
) throws -> Request.Failure {
  try decode(Request.Failure.self, from: value(of: list), of: Request.kind)
}

private func value(of list: PropertyList?) -> RemoteValue {
  guard case .dictionary(let values)? = list?.read({ RemoteValue($0) }) else { return .none }
  return values[CallOutcome.valueKey] ?? .none
}

private func decode<Value: Decodable>(
  _ type: Value.Type, from value: RemoteValue, of kind: String
) throws -> Value {
  do {
    return try RemoteDecoder(codingPath: [], value: value).decode(type)
  } catch let error as DecodingError {
    throw RemoteError.invalid.about("\(kind): \(error.sentence)")
  }
}

private struct RemoteDecoder: Decoder, SingleValueDecodingContainer {
  let codingPath: [any CodingKey]
  let value: RemoteValue
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "is not \(expected)"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let values: [String: RemoteValue]
    switch value {
    case .dictionary(let found): values = found
    case .none: values = [:]
    default: throw mismatch([String: Any].self, "a dictionary")
    }
    return KeyedDecodingContainer(KeyedContainer<Key>(codingPath: codingPath, values: values))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch value {
    case .array(let values): return UnkeyedContainer(codingPath: codingPath, values: values)
    // Programs send arrays of bytes as data.
    case .data(let data):
      return UnkeyedContainer(codingPath: codingPath, values: data.map { .integer(Int64($0)) })
    default: throw mismatch([Any].self, "an array")
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { if case .none = value { true } else { false } }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let scalar = type as? any RemoteScalar.Type else { return try Value(from: self) }
    guard let decoded = scalar.init(remote: value) as? Value else {
      throw mismatch(type, "a value of type \(type)")
    }
    return decoded
  }
}

private struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let codingPath: [any CodingKey]
  let values: [String: RemoteValue]
  var allKeys: [Key] { values.keys.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  private func decoder(for key: any CodingKey) throws -> RemoteDecoder {
    guard let value = values[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath + [key], debugDescription: "is missing"))
    }
    return RemoteDecoder(codingPath: codingPath + [key], value: value)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    if !contains(key) && type is any ExpressibleByNilLiteral.Type {
      return try RemoteDecoder(codingPath: codingPath + [key], value: .none).decode(type)
    }
    return try decoder(for: key).decode(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(for: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(for: RemoteKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }
}

private struct UnkeyedContainer: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  let values: [RemoteValue]
  var currentIndex = 0
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex == values.count }

  init(codingPath: [any CodingKey], values: [RemoteValue]) {
    self.codingPath = codingPath
    self.values = values
  }

  /// An array has no `nil`.
  func decodeNil() -> Bool { false }

  private mutating func next() throws -> RemoteDecoder {
    let path = codingPath + [RemoteKey(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "is missing"))
    }
    defer { currentIndex += 1 }
    return RemoteDecoder(codingPath: path, value: values[currentIndex])
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next().decode(type)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }
}

extension DecodingError {
  /// The mistake and its place, for the other process.
  fileprivate var sentence: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context), .dataCorrupted(let context):
      "\(context.codingPath.map(\.stringValue).joined(separator: ".")) \(context.debugDescription)"
    @unknown default: "\(self)"
    }
  }
}
