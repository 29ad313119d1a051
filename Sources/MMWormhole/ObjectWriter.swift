// Turns objects into trees of values that can be encoded.

internal import Foundation
internal import Wormhole

/// Writes one object, whose parts can be objects themselves.
final class ObjectWriter {
  /// What a tree may contain.
  enum Form {
    /// Text, finite numbers, `NSNull`, arrays and dictionaries.
    case json

    /// The same with all numbers, dates and data, without `NSNull`.
    case propertyList

    /// The same, and dictionaries that stand for other objects.
    case archive
  }

  /// An object that the form does not have.
  private struct Unsuited: Error {}

  private let form: Form
  private var depth = 0

  private init(_ form: Form) { self.form = form }

  /// Returns the tree of an object, `nil` if the form does not have one of its parts.
  ///
  /// - Throws: ``WormholeError/encoding`` if no form has it.
  static func tree(of object: Any, in form: Form) throws -> Any? {
    do {
      return try ObjectWriter(form).tree(object)
    } catch is Unsuited {
      return nil
    }
  }

  fileprivate func tree(_ object: Any) throws -> Any {
    depth += 1
    defer { depth -= 1 }
    guard depth <= ArchivedClass.maxDepth else {
      throw WormholeError.encoding("the message is nested too deeply, or contains itself")
    }
    switch object {
    case let number as NSNumber: return try tree(number)
    case let text as NSString: return text
    case let data as NSData where form != .json: return data
    case let date as NSDate where form != .json: return date
    case let null as NSNull where form == .json: return null
    case let array as NSArray: return try array.map(tree)
    case let dictionary as NSDictionary:
      guard let members = dictionary as? [String: Any], !isTaken(members) else { break }
      return try members.mapValues(tree)
    default: break
    }
    guard form == .archive else { throw Unsuited() }
    return try archive(object)
  }

  /// Whether a dictionary looks like one that stands for an object.
  private func isTaken(_ members: [String: Any]) -> Bool {
    form == .archive && members[ArchivedClass.key] != nil
  }

  private func tree(_ number: NSNumber) throws -> NSNumber {
    guard form == .json else {
      // Foundation cannot hash a decimal number, and so not encode it.
      return number is NSDecimalNumber ? NSNumber(value: number.doubleValue) : number
    }
    guard number.doubleValue.isFinite else { throw Unsuited() }
    return number
  }

  // MARK: Objects

  private func archive(_ object: Any) throws -> [String: Any] {
    switch object {
    case is NSNull: return [ArchivedClass.key: "NSNull"]
    case let url as NSURL: return [ArchivedClass.key: "NSURL", "text": url.absoluteString]
    case let uuid as NSUUID: return [ArchivedClass.key: "NSUUID", "text": uuid.uuidString]
    case let set as NSSet:
      return [ArchivedClass.key: "NSSet", "objects": try set.allObjects.map(tree)]
    case let dictionary as NSDictionary:
      let keys = dictionary.allKeys
      return [
        ArchivedClass.key: "NSDictionary", "keys": try keys.map(tree),
        "objects": try keys.map { try tree(dictionary.object(forKey: $0) as Any) },
      ]
    case let object as any NSCoding:
      let name = try ArchivedClass.name(of: object)
      return try ObjectEncoder.members(of: object, self)
        .merging([ArchivedClass.key: name]) { $1 }
    default: throw WormholeError.encoding("\(type(of: object)) is not NSCoding")
    }
  }
}

/// Collects what an object encodes of itself.
///
/// `NSKeyedArchiver` of Foundation on Linux ends the process if it is passed an object that it does
/// not know, and makes true and 1 the same.
private final class ObjectEncoder: NSCoder {
  private let writer: ObjectWriter
  private var members: [String: Any] = [:]
  private var failure: (any Error)?

  private init(_ writer: ObjectWriter) { self.writer = writer }

  static func members(of object: any NSCoding, _ writer: ObjectWriter) throws -> [String: Any] {
    let encoder = ObjectEncoder(writer)
    object.encode(with: encoder)
    if let failure = encoder.failure { throw failure }
    return encoder.members
  }

  private func set(_ value: Any?, for key: String) {
    guard failure == nil, let value else { return }
    do {
      members[ObjectDecoder.escaped(key)] = try writer.tree(value)
    } catch {
      failure = error
    }
  }

  private func refuse() {
    failure = failure ?? WormholeError.encoding("values without a key cannot be archived")
  }

  override var allowsKeyedCoding: Bool { true }
  override func encode(_ object: Any?, forKey key: String) { set(object, for: key) }
  // It would be part of the archive only if it also was elsewhere in it: mostly an owner.
  override func encodeConditionalObject(_ object: Any?, forKey key: String) {}
  override func encode(_ value: Bool, forKey key: String) { set(value, for: key) }
  override func encode(_ value: Int, forKey key: String) { set(value, for: key) }
  override func encode(_ value: Int32, forKey key: String) { set(value, for: key) }
  override func encode(_ value: Int64, forKey key: String) { set(value, for: key) }
  override func encode(_ value: Float, forKey key: String) { set(Double(value), for: key) }
  override func encode(_ value: Double, forKey key: String) { set(value, for: key) }
  override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
    set(bytes.map { Data(bytes: $0, count: length) } ?? Data(), for: key)
  }
  override func encode(_ object: Any?) { refuse() }
  override func encode(_ data: Data) { refuse() }
  override func encodePropertyList(_ list: Any) { refuse() }
  override func encodeValue(ofObjCType type: UnsafePointer<Int8>, at address: UnsafeRawPointer) {
    refuse()
  }
}
