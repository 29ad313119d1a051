// Names messages, and says what they carry.

internal import DarwinNotify
internal import Foundation

/// The name of messages with values of one type.
///
/// Any text but an empty one will do, customarily in reverse domain order; names are compared by
/// their bytes. Put the names into a module that all programs of a group share:
///
///     extension MessageName where Value == Bool {
///       static var lightState: Self { "org.example.light.state" }
///     }
///
/// Only a value of that type can then be passed; what comes out is of that type or a typed error.
public struct MessageName<Value: Codable & Sendable>: RawRepresentable, Sendable {
  /// The text of the name.
  public let rawValue: String

  /// How values are written down.
  public let codec: any MessageCodec

  /// Where messages are kept; `nil` leaves it to the wormhole.
  public let transit: (any MessageTransit)?

  /// What is written down as the type of the values.
  public let type: String

  /// The version of the type: a reader refuses values of another one.
  public let version: UInt32

  /// Makes a name.
  ///
  /// - Parameters:
  ///   - text: the text of the name; what is wrong with it is reported where it is used.
  ///   - codec: how values are written down; by default raw for `Data`, JSON for all other types.
  ///   - transit: where messages are kept; by default where the wormhole keeps them.
  ///   - type: what is written down as the type, so that a reader with another one refuses it; by
  ///     default the name of the type without its module.
  ///   - version: the version of the type. Raise it when values of the old kind cannot be read.
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

  /// Makes a name from its text, with the codec that fits the type.
  public init(rawValue: String) {
    self.init(rawValue)
  }
}

extension MessageName: Hashable {
  /// Tells whether two names have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.rawValue) == ExactString(right.rawValue)
  }

  /// Tells whether two names have different bytes.
  ///
  /// Spelled out because the standard library compares the raw values of what is
  /// `RawRepresentable`.
  public static func != (left: Self, right: Self) -> Bool {
    !(left == right)
  }

  /// Feeds the bytes of the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(rawValue).hash(into: &hasher)
  }
}

extension MessageName: ExpressibleByStringLiteral {
  /// Makes a name from a literal, with the codec that fits the type.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension MessageName: CustomStringConvertible {
  /// The text of the name.
  public var description: String { rawValue }
}

extension MessageName {
  /// Writes a value down.
  func encode(_ value: Value) throws(WormholeError) -> Payload {
    let data: Data
    do {
      data = try codec.encode(value)
    } catch let error as WormholeError {
      throw error
    } catch {
      throw .encoding(String(describing: error))
    }
    guard data.count <= MessageLimits.payloadBytes else {
      throw .tooLarge(bytes: data.count, limit: MessageLimits.payloadBytes)
    }
    return Payload(codec: codec.identifier, type: type, version: version, data: data)
  }

  /// Reads what was written down.
  func decode(_ payload: Payload) throws(WormholeError) -> Value {
    guard payload.codec == codec.identifier else {
      throw .codecMismatch(expected: codec.identifier, found: payload.codec)
    }
    guard payload.type == type else {
      throw .typeMismatch(expected: type, found: payload.type)
    }
    guard payload.version == version else {
      throw .versionMismatch(expected: version, found: payload.version)
    }
    do {
      return try codec.decode(Value.self, from: payload.data)
    } catch let error as WormholeError {
      throw error
    } catch {
      throw .decoding(String(describing: error))
    }
  }
}
