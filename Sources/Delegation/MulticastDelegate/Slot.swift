// Gives a closure the shape of a method.

/// A closure that a listener has in the place of a method.
///
///     struct PlayerListener: Sendable {
///       var didStart: Slot<Int>
///       var didSeek: Slot<Double, String>?
///     }
public struct Slot<each Argument>: Sendable {
  let body: @Sendable (repeat each Argument) -> Void

  /// Makes a slot.
  ///
  /// - Parameter body: what to do.
  public init(_ body: @escaping @Sendable (repeat each Argument) -> Void) {
    self.body = body
  }
}
