// Finds the directory of an app group with the function that Foundation has on Apple's systems.

public import Foundation
internal import Wormhole

extension FileManager {
  /// Returns the directory of an app group, which is created if it is missing.
  ///
  /// It is the directory of `AppGroup` in the module `Wormhole`. No entitlement is needed: every
  /// process of the user that names a group belongs to it.
  ///
  /// - Parameter groupIdentifier: the identifier of the group, any nonempty text.
  /// - Returns: the directory, or `nil` if it cannot be used; `Diagnostics` gets the reason.
  public func containerURL(
    forSecurityApplicationGroupIdentifier groupIdentifier: String
  ) -> URL? {
    do {
      return try AppGroup(groupIdentifier).directory
    } catch {
      report(
        error, of: "FileManager.containerURL(forSecurityApplicationGroupIdentifier:)",
        groupIdentifier)
      return nil
    }
  }
}
