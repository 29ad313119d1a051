// Encodes what other processes receive.

internal import DarwinNotify
internal import Delegation

/// Encodes the properties of a request.
func encodeArguments<Request: RemoteRequest>(_ request: Request) throws -> PropertyList {
  switch try encode(request) {
  case .dictionary(let values): return try list(of: values)
  case .none: return try list(of: [:])
  default: throw RemoteError.invalid.about("\(Request.kind) has no named properties")
  }
}

/// Encodes a response, or an error in its place.
func encodeResponse<Response: Encodable>(_ response: Response) throws -> PropertyList {
  try list(of: [CallOutcome.valueKey: try encode(response)])
}

private func list(of values: [String: RemoteValue]) throws -> PropertyList {
  let builder = PropertyListBuilder()
  for (key, value) in values { value.add(to: builder, for: key) }
  do {
    return try builder.finish()
  } catch .tooLarge {
    throw RemoteError.limitReached.about("the values are too large in total")
  } catch {
    throw RemoteError.invalid.about("a value that cannot be sent: \(error)")
  }
}

private func encode<Value: Encodable>(_ value: Value) throws -> RemoteValue {
  let slot = Slot()
  do {
    try slot.encode(value, at: [])
  } catch EncodingError.invalidValue(_, let context) {
    throw RemoteError.invalid.about(context.sentence)
  }
  return try slot.value(at: [])
}

/// Where one value is encoded; containers fill it step by step.
private final class Slot {
  private enum Content {
    case value(RemoteValue)
    case array([Slot])
    case dictionary([(key: String, slot: Slot)])
  }

  private var content = Content.value(.none)

  func set(_ value: RemoteValue) {
    content = .value(value)
  }

  func encode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
    if let scalar = value as? any RemoteScalar {
      set(scalar.remoteValue)
    } else {
      try value.encode(to: RemoteEncoder(codingPath: path, slot: self))
    }
  }

  func becomeDictionary() {
    if case .dictionary = content { return }
    content = .dictionary([])
  }

  func becomeArray() {
    if case .array = content { return }
    content = .array([])
  }

  var count: Int { if case .array(let slots) = content { slots.count } else { 0 } }

  func add(_ key: String) -> Slot {
    let slot = Slot()
    if case .dictionary(var slots) = content {
      content = .value(.none)
      slots.append((key, slot))
      content = .dictionary(slots)
    }
    return slot
  }

  func append() -> Slot {
    let slot = Slot()
    if case .array(var slots) = content {
      content = .value(.none)
      slots.append(slot)
      content = .array(slots)
    }
    return slot
  }

  func value(at path: [String]) throws -> RemoteValue {
    switch content {
    case .value(let value): return value
    case .array(let slots):
      return .array(
        try slots.enumerated().map { index, slot in
          let value = try slot.value(at: path + ["\(index)"])
          guard case .none = value else { return value }
          throw RemoteError.invalid.about(
            "an array cannot have nil, at \(path.joined(separator: "."))")
        })
    case .dictionary(let slots):
      var values = [String: RemoteValue](minimumCapacity: slots.count)
      for (key, slot) in slots {
        let value = try slot.value(at: path + [key])
        if case .none = value { continue }
        values[key] = value
      }
      return .dictionary(values)
    }
  }
}

private struct RemoteEncoder: Encoder, SingleValueEncodingContainer {
  let codingPath: [any CodingKey]
  let slot: Slot
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.becomeDictionary()
    return KeyedEncodingContainer(KeyedContainer<Key>(codingPath: codingPath, slot: slot))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.becomeArray()
    return UnkeyedContainer(codingPath: codingPath, slot: slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { slot.set(.none) }

  func encode<Value: Encodable>(_ value: Value) throws {
    try slot.encode(value, at: codingPath)
  }
}

private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let codingPath: [any CodingKey]
  let slot: Slot

  func encodeNil(forKey key: Key) {}

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try slot.add(key.stringValue).encode(value, at: codingPath + [key])
  }

  private func encoder(for key: any CodingKey) -> RemoteEncoder {
    RemoteEncoder(codingPath: codingPath + [key], slot: slot.add(key.stringValue))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(for: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(for: RemoteKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }
}

private struct UnkeyedContainer: UnkeyedEncodingContainer {
  let codingPath: [any CodingKey]
  let slot: Slot
  var count: Int { slot.count }

  func encodeNil() { _ = slot.append() }

  func encode<Value: Encodable>(_ value: Value) throws {
    try slot.append().encode(value, at: codingPath + [RemoteKey(count - 1)])
  }

  private func encoder() -> RemoteEncoder {
    RemoteEncoder(codingPath: codingPath + [RemoteKey(count)], slot: slot.append())
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }
}

/// A key that no type has declared.
struct RemoteKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  static let `super` = RemoteKey("super")

  init(_ index: Int) {
    stringValue = "\(index)"
    intValue = index
  }

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init?(stringValue: String) { self.init(stringValue) }

  init?(intValue: Int) { self.init(intValue) }
}

extension EncodingError.Context {
  fileprivate var sentence: String {
    "\(codingPath.map(\.stringValue).joined(separator: ".")): \(debugDescription)"
  }
}
