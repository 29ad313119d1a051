// Describes errors to Foundation.

public import Foundation
public import Wormhole

extension WormholeError: LocalizedError {
  /// What happened, in words.
  public var errorDescription: String? { description }
}
