// Tells what happens to the bus of a center.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Returns a sequence of whether the center is on its bus: first the present state, then each
  /// change.
  ///
  ///     for await isOnBus in try center.busStates() {
  ///       statusLine.text = isOnBus ? "connected" : "no bus"
  ///     }
  ///
  /// Changes are not left out, and alternate; only if more than 16 wait to be taken, they are
  /// merged into the last one. Without a bus the user's programs that use this library still hear
  /// each other; what other programs on the bus post is missed.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_observe_bus`.
  public func busStates() throws(DarwinNotifyError) -> QueuedNotifications<Bool> {
    try QueuedNotifications { (delivery, handler) throws(DarwinNotifyError) in
      try dn_bus_handler.observe(self.center, on: delivery, handler)
    }
  }
}
