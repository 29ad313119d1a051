// Reports the state of a center's bus.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Returns a sequence that says whether the center is on its bus: first the current state, then
  /// each change.
  ///
  ///     for await isOnBus in try center.busStates() {
  ///       statusLine.text = isOnBus ? "connected" : "no bus"
  ///     }
  ///
  /// No change is left out, so the values alternate. Only if more than 16 are waiting to be taken
  /// are they merged into the last one. Without a bus the user's programs that use this library
  /// still hear each other; posts of other programs on the bus are missed.
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
