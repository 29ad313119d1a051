// Describes errors to Foundation.

public import Foundation
public import Wormhole

extension WormholeError: LocalizedError {
  /// A description of the error.
  public var errorDescription: String? { description }
}
