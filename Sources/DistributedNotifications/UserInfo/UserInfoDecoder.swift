// Turns property lists of C into dictionaries of Foundation.

internal import DarwinNotify
internal import Foundation

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
