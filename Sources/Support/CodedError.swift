// Compares errors by what happened.

/// An error with a code, and details that do not count when errors are compared: a `catch` clause
/// and `#expect(throws:)` name what happened.
public protocol CodedError: Error, Equatable {
  /// The type of the code, such as an enumeration.
  associatedtype Code: Equatable & Sendable

  /// What happened.
  var code: Code { get }
}

extension CodedError {
  /// Returns whether two errors have the same code, whatever their details.
  ///
  /// - Parameters:
  ///   - left: one error.
  ///   - right: the other error.
  /// - Returns: whether they do.
  public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

  // Disfavored, so that a pattern without a type is not ambiguous between this and another error.
  /// Lets a `catch` clause name an error of this type: `catch BusError.timedOut`.
  ///
  /// - Parameters:
  ///   - pattern: the error that is named.
  ///   - error: the error that was thrown.
  /// - Returns: whether it has the same code.
  @_disfavoredOverload
  public static func ~= (pattern: Self, error: any Error) -> Bool { error as? Self == pattern }
}
