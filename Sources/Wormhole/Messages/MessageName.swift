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

  /// How many messages are kept.
  public let keep: Wormhole.Keep

  /// Whether a message waits for the disk, so that it survives a power loss.
  public let isDurable: Bool

  /// The encoding of values.
  public let codec: MessageCodec

  /// The type of the values, as it is stored.
  public let type: String

  /// The version of the type. Readers refuse values of other versions.
  public let version: UInt32

  /// Creates a name.
  ///
  /// - Parameters:
  ///   - text: the text of the name, 1 to 255 bytes without a NUL. Errors in it are reported where
  ///     it is used.
  ///   - keep: how many messages are kept.
  ///   - durable: whether passing a message waits for the disk. Programs that pass messages at the
  ///     same time also wait, some of them for 30 ms.
  ///   - codec: the encoding of values; by default raw for `Data`, JSON for all other types.
  ///   - type: the type as it is stored, so that readers with another type refuse the value; by
  ///     default the name of the type without its module.
  ///   - version: the version of the type. Raise it when old values can no longer be read.
  public init(
    _ text: String, keep: Wormhole.Keep = .newest, durable: Bool = false,
    codec: MessageCodec? = nil, type: String? = nil, version: UInt32 = 1
  ) {
    rawValue = text
    self.keep = keep
    isDurable = durable
    self.codec = codec ?? (Value.self == Data.self ? .raw : .json)
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
  /// What is stored for a value.
  func draft(_ value: Value) throws(WormholeError) -> RecordDraft {
    RecordDraft(.value(try encode(value)), keep: keep.count, isDurable: isDurable)
  }

  /// What is stored for an event without a value.
  func draft(_ event: StoredContent) -> RecordDraft {
    RecordDraft(event, isDurable: isDurable)
  }

  private func encode(_ value: Value) throws(WormholeError) -> StoredValue {
    do {
      return StoredValue(
        codec: codec.rawValue, type: type, version: version, data: try codec.encode(value))
    } catch let error as WormholeError {
      throw error.with(reason: "\(rawValue): \(error.reason ?? "")")
    } catch {
      throw .encoding("\(rawValue): \(sentence(of: error))")
    }
  }

  /// Decodes a value. A value that another program passed without a type is accepted.
  func decode(_ stored: StoredValue) throws(WormholeError) -> Value {
    guard stored.codec == codec.rawValue else {
      throw .codecMismatch(name: rawValue, expected: codec.rawValue, found: stored.codec)
    }
    if let found = stored.type, found != type {
      throw .typeMismatch(name: rawValue, expected: type, found: found)
    }
    if let found = stored.version, found != version {
      throw .versionMismatch(name: rawValue, expected: version, found: found)
    }
    do {
      return try codec.decode(Value.self, from: stored.data)
    } catch let error as WormholeError {
      throw error.with(reason: "\(rawValue): \(error.reason ?? "")")
    } catch {
      throw .decoding("\(rawValue): \(sentence(of: error))")
    }
  }
}
