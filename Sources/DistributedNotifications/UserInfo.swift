// Converts dictionaries of Foundation to property lists of C.

internal import DarwinNotify
internal import Foundation

/// Encodes one user info, or reports which of its values cannot be in a property list.
struct UserInfoEncoder: ~Copyable {
  private let builder = PropertyListBuilder()

  /// Encodes a user info.
  static func encode(
    _ userInfo: [AnyHashable: Any]
  ) throws(DistributedNotificationError) -> PropertyList {
    let encoder = UserInfoEncoder()
    do throws(DistributedNotificationError) {
      try encoder.add(userInfo, depth: 1)
    } catch {
      throw error.within("userInfo")
    }
    do throws(DarwinNotifyError) {
      return try encoder.finish()
    } catch {
      throw .failed(error)
    }
  }

  private consuming func finish() throws(DarwinNotifyError) -> PropertyList {
    try builder.finish()
  }

  private func add(
    _ dictionary: [AnyHashable: Any], depth: Int
  ) throws(DistributedNotificationError) {
    for (key, value) in dictionary {
      guard let text = text(of: key.base) else {
        throw .notAPropertyList(path: " has a key that", type: "\(type(of: key.base))")
      }
      guard text.canBeSent else {
        throw .notText(path: " has a key, \(text.debugDescription), that")
      }
      do throws(DistributedNotificationError) {
        try add(value, for: text, depth: depth)
      } catch {
        throw error.within("[\"\(text)\"]")
      }
    }
  }

  private func add(
    _ array: [Any], depth: Int
  ) throws(DistributedNotificationError) {
    for (index, value) in array.enumerated() {
      do throws(DistributedNotificationError) {
        try add(value, for: nil, depth: depth)
      } catch {
        throw error.within("[\(index)]")
      }
    }
  }

  /// Adds a value. The types that are met most are asked for first, and exactly: a cast would turn
  /// numbers and truth values into each other.
  private func add(
    _ value: Any, for key: String?, depth: Int
  ) throws(DistributedNotificationError) {
    let type = type(of: value)
    if type == String.self, let string = value as? String {
      try add(string, for: key)
    } else if type == Int.self, let number = value as? Int {
      builder.set(.integer(Int64(number)), for: key)
    } else if type == Bool.self, let bool = value as? Bool {
      builder.set(.bool(bool), for: key)
    } else if type == Double.self, let number = value as? Double {
      builder.set(.real(number), for: key)
    } else if let number = value as? NSNumber {
      builder.set(PropertyListScalar(number), for: key)
    } else {
      try addCastable(value, for: key, depth: depth)
    }
  }

  private func addCastable(
    _ value: Any, for key: String?, depth: Int
  ) throws(DistributedNotificationError) {
    if let string = text(of: value) {
      try add(string, for: key)
    } else if let number = value as? CGFloat {
      builder.set(.real(Double(number)), for: key)
    } else if let data = value as? Data {
      data.withUnsafeBytes { builder.set(.data($0), for: key) }
    } else if let date = value as? Date, let microseconds = date.microseconds {
      builder.set(.date(microseconds), for: key)
    } else if let array = value as? [Any] {
      try checkDepth(depth)
      builder.beginArray(for: key)
      try add(array, depth: depth + 1)
      builder.end()
    } else if let dictionary = value as? [AnyHashable: Any] {
      try checkDepth(depth)
      builder.beginDictionary(for: key)
      try add(dictionary, depth: depth + 1)
      builder.end()
    } else {
      throw .notAPropertyList(path: "", type: "\(type(of: value))")
    }
  }

  private func add(
    _ text: String, for key: String?
  ) throws(DistributedNotificationError) {
    guard text.canBeSent else { throw .notText(path: "") }
    builder.set(.string(text), for: key)
  }

  /// C refuses what is too deep, but only at the end.
  private func checkDepth(_ depth: Int) throws(DistributedNotificationError) {
    guard depth < PropertyListBuilder.maxDepth else { throw .failed(.tooLarge) }
  }
}

/// Returns the text of a string, or of a value that Apple's Foundation bridges to one, such as
/// `Notification.Name`; `nil` for any other.
private func text(of value: Any) -> String? {
  value as? String ?? (value as? any RawRepresentable)?.rawValue as? String
}

extension String {
  /// Whether C accepts the text: it has neither a NUL nor a Unicode noncharacter.
  fileprivate var canBeSent: Bool {
    // The UTF-8 of each noncharacter begins with 0xEF or more.
    utf8.allSatisfy { $0 != 0 && $0 < 0xEF }
      || unicodeScalars.allSatisfy { $0.value != 0 && !$0.properties.isNoncharacterCodePoint }
  }
}

/// Foundation's class for Booleans: their `objCType` is also that of `Int8`.
private let truthValue: AnyClass = type(of: NSNumber(value: true))

extension PropertyListScalar {
  /// Makes the value of a number, into which Foundation also turns those of Swift.
  fileprivate init(_ number: NSNumber) {
    guard type(of: number) != truthValue else {
      self = .bool(number.boolValue)
      return
    }
    self =
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "Q"), UInt8(ascii: "L"): .unsigned(number.uint64Value)
      case UInt8(ascii: "d"), UInt8(ascii: "f"): .real(number.doubleValue)
      default: .integer(number.int64Value)
      }
  }
}

extension Date {
  /// Microseconds since 1970, unless they are not to be counted by 64 bits.
  fileprivate var microseconds: Int64? {
    Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded())
  }
}

extension DistributedNotificationError {
  /// The error seen from the container of the value.
  fileprivate func within(_ container: String) -> Self {
    guard let path else { return self }
    return Self(code, path: container + path, type: type)
  }
}

extension PropertyList {
  /// The values as Foundation has them: `String`, `Bool`, `Int` (above its range `UInt64`),
  /// `Double`, `Data`, `Date`, `[Any]`, `[String: Any]`.
  var userInfo: [AnyHashable: Any] {
    read { dictionary in
      var userInfo = [AnyHashable: Any](minimumCapacity: dictionary.count)
      for index in 0..<dictionary.count {
        let (key, value) = dictionary[index]
        userInfo[key] = value.decoded
      }
      return userInfo
    }
  }
}

extension PropertyListValue {
  fileprivate var decoded: Any {
    switch self {
    case .scalar(.string(let string)): string
    case .scalar(.bool(let bool)): bool
    case .scalar(.integer(let number)): Int(number)
    case .scalar(.unsigned(let number)): number
    case .scalar(.real(let number)): number
    case .scalar(.data(let bytes)): Data(bytes)
    case .scalar(.date(let microseconds)):
      Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    case .array(let array): (0..<array.count).map { array[$0].decoded } as [Any]
    case .dictionary(let dictionary): dictionary.decoded
    }
  }
}

extension PropertyListDictionary {
  fileprivate var decoded: [String: Any] {
    var decoded = [String: Any](minimumCapacity: count)
    for index in 0..<count {
      let (key, value) = self[index]
      decoded[key] = value.decoded
    }
    return decoded
  }
}
