// Creates objects from trees of decoded values.

internal import Foundation
internal import Wormhole

/// Reads one object from a tree, which is untrusted input.
struct ObjectReader {
  /// Returns the object of a tree.
  ///
  /// - Parameters:
  ///   - tree: a property list.
  ///   - hasClasses: whether dictionaries may stand for objects of other classes.
  /// - Returns: the object.
  /// - Throws: ``WormholeError/decoding``. If the tree names a class that is not allowed, no object
  ///   is created.
  static func object(of tree: Any, hasClasses: Bool) throws -> Any {
    try check(tree, hasClasses, depth: 1)
    return hasClasses ? try object(of: tree) : tree as AnyObject
  }

  private static func check(_ tree: Any, _ hasClasses: Bool, depth: Int) throws {
    guard depth <= (hasClasses ? ArchivedClass.maxDepth : BinaryPropertyList.maxDepth) else {
      throw WormholeError.decoding("the message is nested too deeply")
    }
    switch tree {
    case is String, is NSNumber, is Date, is Data: break
    case let array as [Any]: for value in array { try check(value, hasClasses, depth: depth + 1) }
    case let members as [String: Any]:
      if hasClasses, let name = members[ArchivedClass.key] { try check(class: name) }
      for value in members.values { try check(value, hasClasses, depth: depth + 1) }
    default: throw WormholeError.decoding("the property list contains \(type(of: tree))")
    }
  }

  private static func check(class name: Any) throws {
    guard let name = name as? String, makers[name] != nil || ArchivedClass.find(name) != nil else {
      throw WormholeError.decoding("this program may not or cannot decode the class \(name)")
    }
  }

  // MARK: Objects

  fileprivate static func object(of tree: Any) throws -> Any {
    switch tree {
    case let array as [Any]: return NSMutableArray(array: try array.map(object))
    case let members as [String: Any]:
      guard let name = members[ArchivedClass.key] as? String else {
        return NSMutableDictionary(dictionary: try members.mapValues(object))
      }
      if let make = makers[name] { return try make(members) }
      guard
        let object = try ArchivedClass.find(name).flatMap({ try ObjectDecoder.make($0, members) })
      else { throw WormholeError.decoding("\(name) does not decode itself") }
      return object
    default: return tree as AnyObject
    }
  }

  /// How objects of Foundation are created.
  private static let makers: [String: @Sendable ([String: Any]) throws -> Any] = [
    "NSNull": { _ in NSNull() },
    "NSURL": { members in try (members["text"] as? String).flatMap(NSURL.init).orThrow("NSURL") },
    "NSUUID": { members in
      try (members["text"] as? String).flatMap(NSUUID.init(uuidString:)).orThrow("NSUUID")
    },
    "NSSet": { members in
      NSMutableSet(array: try (members["objects"] as? [Any]).orThrow("NSSet").map(object))
    },
    "NSDictionary": { members in
      let keys = try (members["keys"] as? [Any]).orThrow("NSDictionary").map(object)
      let objects = try (members["objects"] as? [Any]).orThrow("NSDictionary").map(object)
      guard keys.count == objects.count else { return try Any?.none.orThrow("NSDictionary") }
      let dictionary = NSMutableDictionary()
      for (key, object) in zip(keys, objects) {
        dictionary.setObject(object, forKey: try (key as? AnyHashable).orThrow("NSDictionary"))
      }
      return dictionary
    },
  ]
}

extension Optional {
  fileprivate func orThrow(_ name: String) throws -> Wrapped {
    guard let self else { throw WormholeError.decoding("an archived \(name) is malformed") }
    return self
  }
}

/// Decodes an object from the values that it has encoded.
///
/// Foundation's `NSKeyedUnarchiver` on Linux ends the process for some archives, for example if an
/// object in a dictionary fails to decode.
final class ObjectDecoder: NSCoder {
  private let members: [String: Any]
  private var failure: (any Error)?

  private init(_ members: [String: Any]) { self.members = members }

  static func make(_ type: any NSCoding.Type, _ members: [String: Any]) throws -> Any? {
    let decoder = ObjectDecoder(members)
    let object = type.init(coder: decoder)
    if let failure = decoder.failure { throw failure }
    return object
  }

  /// The key for an object's value, escaped so that it differs from the archive's own keys.
  static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$\(key)" : key }

  private func value(_ key: String) -> Any? { members[Self.escaped(key)] }
  private func number(_ key: String) -> NSNumber { value(key) as? NSNumber ?? 0 }

  override var allowsKeyedCoding: Bool { true }
  override var error: (any Error)? { failure }
  override func failWithError(_ error: any Error) { failure = failure ?? error }
  override func containsValue(forKey key: String) -> Bool { value(key) != nil }
  override func decodeObject(forKey key: String) -> Any? {
    guard failure == nil, let value = value(key) else { return nil }
    do {
      return try ObjectReader.object(of: value)
    } catch {
      failure = error
      return nil
    }
  }
  override func decodePropertyList(forKey key: String) -> Any? { decodeObject(forKey: key) }
  override func decodeBool(forKey key: String) -> Bool { number(key).boolValue }
  override func decodeCInt(forKey key: String) -> Int32 { number(key).int32Value }
  override func decodeInt32(forKey key: String) -> Int32 { number(key).int32Value }
  override func decodeInt64(forKey key: String) -> Int64 { number(key).int64Value }
  override func decodeInteger(forKey key: String) -> Int { number(key).intValue }
  override func decodeFloat(forKey key: String) -> Float { number(key).floatValue }
  override func decodeDouble(forKey key: String) -> Double { number(key).doubleValue }
  override func withDecodedUnsafeBytes<Result>(
    forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    guard let data = value(key) as? Data else { return try body(nil) }
    return try data.withUnsafeBytes { try body($0) }
  }
  override var allowedClasses: [AnyClass]? { nil }
  override func decodeObject() -> Any? { nil }
  override func decodeData() -> Data? { nil }
  override func decodePropertyList() -> Any? { nil }
  override func decodeValue(ofObjCType type: UnsafePointer<Int8>, at data: UnsafeMutableRawPointer)
  {
    failure = failure ?? WormholeError.decoding("values without a key cannot be decoded")
  }
}
