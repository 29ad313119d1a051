// Names messages with their type.

internal import DarwinNotifySupport
internal import FoundationEssentials

/// The name of messages with values of one type.
///
/// Any nonempty text, customarily in reverse domain order. Names are compared byte by byte. Declare
/// them in a module that all programs of a group share:
///
///     extension MessageName where Value == Bool {
///       static var lightState: Self { "org.example.light.state" }
///     }
///
/// Only values of that type can be passed; a reader gets a value of that type, or a typed error.
/// The name of the type is stored with each message: give a `type` if you may rename it.
public struct MessageName<Value: Codable & Sendable>: RawRepresentable, Sendable {
  /// The text of the name.
  public let rawValue: String

  /// The encoding of values.
  public let codec: any MessageCodec

  /// How messages are stored; `nil` for the transit of the wormhole.
  public let transit: (any MessageTransit)?

  /// The type of the values, as it is stored.
  public let type: String

  /// The version of the type. Readers refuse values of other versions.
  public let version: UInt32

  /// Creates a name.
  ///
  /// - Parameters:
  ///   - text: the text of the name. Errors in it are reported where it is used.
  ///   - codec: the encoding of values; by default raw for `Data`, JSON for all other types.
  ///   - transit: how messages are stored; by default the transit of the wormhole.
  ///   - type: the type as it is stored, so that readers with another type refuse the value; by
  ///     default the name of the type without its module.
  ///   - version: the version of the type. Raise it when old values can no longer be read.
  public init(
    _ text: String, codec: (any MessageCodec)? = nil, transit: (any MessageTransit)? = nil,
    type: String? = nil, version: UInt32 = 1
  ) {
    rawValue = text
    self.codec = codec ?? (Value.self == Data.self ? .raw : .json)
    self.transit = transit
    self.type = type ?? String(describing: Value.self)
    self.version = version
  }

  /// Creates a name from its text, with the default codec of the type.
  public init(rawValue: String) {
    self.init(rawValue)
  }
}

extension MessageName: Hashable {
  /// Returns whether two names have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.rawValue) == ExactString(right.rawValue)
  }

  /// Returns whether two names have different bytes.
  ///
  /// Needed because the standard library compares the raw values of `RawRepresentable` types.
  public static func != (left: Self, right: Self) -> Bool {
    !(left == right)
  }

  /// Feeds the bytes of the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(rawValue).hash(into: &hasher)
  }
}

extension MessageName: ExpressibleByStringLiteral {
  /// Creates a name from a literal, with the default codec of the type.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension MessageName: CustomStringConvertible {
  /// The text of the name.
  public var description: String { rawValue }
}

extension MessageName {
  /// Encodes a value.
  func encode(_ value: Value) throws(WormholeError) -> Wormhole.Payload {
    let data: Data
    do {
      data = try codec.encode(value)
    } catch let error as WormholeError {
      throw error.with(reason: "\(rawValue): \(error.reason ?? "")")
    } catch {
      throw .encoding("\(rawValue): \(sentence(of: error))")
    }
    guard data.count <= MessageLimits.payloadBytes else {
      throw .tooLarge(bytes: data.count, limit: MessageLimits.payloadBytes)
    }
    return Wormhole.Payload(codec: codec.identifier, type: type, version: version, data: data)
  }

  /// Decodes a value.
  func decode(_ payload: Wormhole.Payload) throws(WormholeError) -> Value {
    guard payload.codec == codec.identifier else {
      throw .codecMismatch(name: rawValue, expected: codec.identifier, found: payload.codec)
    }
    guard payload.type == type else {
      throw .typeMismatch(name: rawValue, expected: type, found: payload.type)
    }
    guard payload.version == version else {
      throw .versionMismatch(name: rawValue, expected: version, found: payload.version)
    }
    do {
      return try codec.decode(Value.self, from: payload.data)
    } catch let error as WormholeError {
      throw error.with(reason: "\(rawValue): \(error.reason ?? "")")
    } catch {
      throw .decoding("\(rawValue): \(sentence(of: error))")
    }
  }
}
