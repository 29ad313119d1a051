// Wraps a closure that stands for a method.

/// A closure that a listener has instead of a method.
///
///     struct PlayerListener: Sendable {
///       var didStart: Slot<Int>
///       var didSeek: Slot<Double, String>?
///     }
public struct Slot<each Argument>: Sendable {
  let body: @Sendable (repeat each Argument) -> Void

  /// Creates a slot.
  ///
  /// - Parameter body: the closure.
  public init(_ body: @escaping @Sendable (repeat each Argument) -> Void) {
    self.body = body
  }
}
