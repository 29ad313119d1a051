// Describes errors to Foundation.

public import DarwinNotify
public import Foundation
public import Wormhole

extension WormholeError: LocalizedError {
  /// A description of the error.
  public var errorDescription: String? { description }
}

extension DarwinNotifyError: LocalizedError {
  /// A description of the error.
  public var errorDescription: String? { description }
}

extension NotifyError: LocalizedError {
  /// A description of the error.
  public var errorDescription: String? { description }
}
