// Encodes objects as stored values.

internal import Foundation
internal import Wormhole

/// The encoding of an object whose class a property list cannot represent: a binary property list
/// in which a dictionary with the key `$class` stands for an object of that class.
private let archiveCodec = "archive"

extension StoredValue {
  /// Encodes an object in the first form that preserves all of it: its bytes, JSON, a property list
  /// or an archive.
  init(of object: Any) throws {
    if let data = object as? NSData {
      self.init(codec: MessageCodec.raw.rawValue, data: data as Data)
    } else if let tree = try ObjectWriter.tree(of: object, in: .json) {
      let options: JSONSerialization.WritingOptions = [
        .fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes,
      ]
      self.init(
        codec: MessageCodec.json.rawValue,
        data: try JSONSerialization.data(withJSONObject: tree, options: options))
    } else if let tree = try ObjectWriter.tree(of: object, in: .propertyList) {
      self.init(codec: MessageCodec.propertyList.rawValue, data: try Self.propertyList(tree))
    } else {
      let tree = try ObjectWriter.tree(of: object, in: .archive)
      self.init(
        codec: archiveCodec, type: "\(Swift.type(of: object))",
        data: try Self.propertyList(tree as Any))
    }
  }

  /// Encodes a tree like `MessageCodec.propertyList`.
  private static func propertyList(_ tree: Any) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: [tree], format: .binary, options: 0)
  }

  /// Decodes an object.
  fileprivate func object(of name: String) throws -> Any {
    switch codec {
    case MessageCodec.raw.rawValue: return data as NSData
    case MessageCodec.json.rawValue:
      return try decoding {
        try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as AnyObject
      }
    case MessageCodec.propertyList.rawValue, archiveCodec:
      try BinaryPropertyList.check(data)
      let list = try decoding {
        try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
      }
      guard let tree = (list as? [Any])?.first else {
        throw WormholeError.decoding("the property list is not an array with a value")
      }
      return try ObjectReader.object(of: tree, hasClasses: codec == archiveCodec)
    default:
      throw WormholeError.codecMismatch(
        name: name, expected: "json, plist, raw or \(archiveCodec)", found: codec)
    }
  }
}

/// Runs a decoder; turns its errors into those of the module `Wormhole`.
private func decoding<Value>(_ body: () throws -> Value) throws -> Value {
  do {
    return try body()
  } catch {
    let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
    throw WormholeError.decoding(reason ?? sentence(of: error))
  }
}

extension StoredRecord {
  /// Decodes the object of a message; `nil` if the record is not a message.
  func object(of name: String) throws -> Any? {
    switch content {
    case .value(let value): try value.object(of: name)
    case .unreadable(let error): throw error
    case .ping, .cleared: nil
    }
  }
}
