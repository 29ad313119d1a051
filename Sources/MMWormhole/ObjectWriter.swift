// Turns objects into trees of values that can be encoded.

internal import Foundation
internal import Wormhole

/// Writes one object, whose parts may also be objects.
final class ObjectWriter {
  /// What a tree may contain.
  enum Form {
    /// Text, finite numbers, `NSNull`, arrays and dictionaries.
    case json

    /// The same, with all numbers, dates and data, but without `NSNull`.
    case propertyList

    /// A property list in which dictionaries may stand for other objects.
    case archive
  }

  /// An object that the form cannot represent.
  private struct Unsuited: Error {}

  private let form: Form
  private var depth = 0

  private init(_ form: Form) { self.form = form }

  /// Returns the tree of an object, or `nil` if the form cannot represent one of its parts.
  ///
  /// - Throws: ``WormholeError/encoding`` if no form can represent it.
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

  /// Whether a dictionary could be mistaken for one that stands for an object.
  private func isTaken(_ members: [String: Any]) -> Bool {
    form == .archive && members[ArchivedClass.key] != nil
  }

  private func tree(_ number: NSNumber) throws -> NSNumber {
    guard form == .json else {
      // Foundation cannot hash a decimal number, so it cannot encode one.
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

/// Collects the values that an object encodes.
///
/// Foundation's `NSKeyedArchiver` on Linux ends the process if it is passed an object that it does
/// not know, and does not distinguish true from 1.
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
  // Such an object, mostly an owner, is archived only if it is also encoded unconditionally.
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
