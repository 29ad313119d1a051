// Decides which classes an archive may name.

internal import Foundation
internal import Wormhole

/// The classes of archived objects.
enum ArchivedClass {
  /// The key of the name of the class.
  static let key = "$class"

  /// How deep objects may be nested. Each level takes several frames of the stack.
  static let maxDepth = 128

  /// Finds a class that a program defines at the top level of a module.
  ///
  /// Classes of Foundation are not found: decoding some of them ends the process.
  static func find(_ name: String) -> (any NSCoding.Type)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].hasPrefix("Foundation"),
      let found = NSClassFromString(name) as? any NSCoding.Type
    else { return nil }
    // The runtime also accepts other spellings, with which an archive could name any class.
    return String(reflecting: found) == name ? found : nil
  }

  /// Returns the name under which other programs find the class of an object.
  static func name(of object: any NSCoding) throws(WormholeError) -> String {
    let type = type(of: object)
    let name = String(reflecting: type)
    guard let found = find(name), found == type else {
      throw .encoding("\(name) is not a class that a program has defined in a module")
    }
    return name
  }
}
