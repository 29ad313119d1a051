// Values as they travel: the types of a property list.

internal import DarwinNotify
internal import FoundationEssentials

/// A value of a request or response.
enum RemoteValue: Sendable {
  /// No value: an optional, or a response without a value.
  case none
  case string(String)
  case bool(Bool)
  case integer(Int64)
  /// A number above the range of the case before.
  case unsigned(UInt64)
  case real(Double)
  case data(Data)
  /// Microseconds since 1970 UTC.
  case date(Int64)
  case array([RemoteValue])
  case dictionary([String: RemoteValue])
}

extension RemoteValue {
  /// Copies a borrowed value.
  init(_ value: PropertyListValue) {
    self =
      switch value {
      case .scalar(.string(let text)): .string(text)
      case .scalar(.bool(let bool)): .bool(bool)
      case .scalar(.integer(let number)): .integer(number)
      case .scalar(.unsigned(let number)): .unsigned(number)
      case .scalar(.real(let number)): .real(number)
      case .scalar(.data(let bytes)): .data(Data(bytes))
      case .scalar(.date(let microseconds)): .date(microseconds)
      case .array(let array): .array((0..<array.count).map { RemoteValue(array[$0]) })
      case .dictionary(let dictionary): RemoteValue(dictionary)
      }
  }

  init(_ dictionary: PropertyListDictionary) {
    var values = [String: RemoteValue](minimumCapacity: dictionary.count)
    for index in 0..<dictionary.count {
      let (key, value) = dictionary[index]
      values[key] = RemoteValue(value)
    }
    self = .dictionary(values)
  }

  /// Adds the value to a property list. Nothing is added for no value.
  func add(to builder: borrowing PropertyListBuilder, for key: String?) {
    switch self {
    case .none: break
    case .string(let text): builder.set(.string(text), for: key)
    case .bool(let bool): builder.set(.bool(bool), for: key)
    case .integer(let number): builder.set(.integer(number), for: key)
    case .unsigned(let number): builder.set(.unsigned(number), for: key)
    case .real(let number): builder.set(.real(number), for: key)
    case .data(let data): data.withUnsafeBytes { builder.set(.data($0), for: key) }
    case .date(let microseconds): builder.set(.date(microseconds), for: key)
    case .array(let values):
      builder.beginArray(for: key)
      for value in values { value.add(to: builder, for: nil) }
      builder.end()
    case .dictionary(let values):
      builder.beginDictionary(for: key)
      for (key, value) in values { value.add(to: builder, for: key) }
      builder.end()
    }
  }
}

// MARK: - Types that are one value

/// A type that travels as one value, without being asked to encode itself.
protocol RemoteScalar {
  var remoteValue: RemoteValue { get }

  /// Returns `nil` if the value is not such a value.
  init?(remote value: RemoteValue)
}

extension String: RemoteScalar {
  var remoteValue: RemoteValue { .string(self) }

  init?(remote value: RemoteValue) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension Bool: RemoteScalar {
  var remoteValue: RemoteValue { .bool(self) }

  init?(remote value: RemoteValue) {
    guard case .bool(let bool) = value else { return nil }
    self = bool
  }
}

extension RemoteScalar where Self: FixedWidthInteger {
  var remoteValue: RemoteValue {
    Int64(exactly: self).map { .integer($0) } ?? .unsigned(UInt64(self))
  }

  init?(remote value: RemoteValue) {
    switch value {
    case .integer(let number): self.init(exactly: number)
    case .unsigned(let number): self.init(exactly: number)
    case .real(let number): self.init(exactly: number)
    default: return nil
    }
  }
}

extension Int: RemoteScalar {}
extension Int8: RemoteScalar {}
extension Int16: RemoteScalar {}
extension Int32: RemoteScalar {}
extension Int64: RemoteScalar {}
extension UInt: RemoteScalar {}
extension UInt8: RemoteScalar {}
extension UInt16: RemoteScalar {}
extension UInt32: RemoteScalar {}
extension UInt64: RemoteScalar {}

extension RemoteScalar where Self: BinaryFloatingPoint {
  var remoteValue: RemoteValue { .real(Double(self)) }

  init?(remote value: RemoteValue) {
    switch value {
    case .real(let number): self.init(number)
    case .integer(let number): self.init(number)
    case .unsigned(let number): self.init(number)
    default: return nil
    }
  }
}

extension Double: RemoteScalar {}
extension Float: RemoteScalar {}

extension Data: RemoteScalar {
  var remoteValue: RemoteValue { .data(self) }

  init?(remote value: RemoteValue) {
    guard case .data(let data) = value else { return nil }
    self = data
  }
}

extension Date: RemoteScalar {
  var remoteValue: RemoteValue {
    Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded()).map { .date($0) } ?? .none
  }

  init?(remote value: RemoteValue) {
    guard case .date(let microseconds) = value else { return nil }
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}

extension URL: RemoteScalar {
  var remoteValue: RemoteValue { .string(absoluteString) }

  init?(remote value: RemoteValue) {
    guard case .string(let text) = value else { return nil }
    self.init(string: text)
  }
}
