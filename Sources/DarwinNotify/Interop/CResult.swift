// Turns the results of C functions into Swift errors.

internal import CDarwinNotify

/// Throws the error that a C function has returned.
func check(_ result: CInt) throws(DarwinNotifyError) {
  guard result >= 0 else { throw DarwinNotifyError(rawValue: -result) }
}

/// Throws the error of a C function that registers. To be registered without a bus is none.
func checkRegistration(_ result: CInt) throws(DarwinNotifyError) {
  guard dn_is_offline(result) == 0 else { return }
  try check(result)
}

extension NotificationObservation {
  /// Takes over the reference that a C function has returned with its success.
  convenience init(adoptingRegistered observer: OpaquePointer?) {
    guard let observer else { preconditionFailure("C returned success without an observer") }
    self.init(adopting: observer)
  }
}
