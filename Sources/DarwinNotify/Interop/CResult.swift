// Converts the results of C functions to Swift errors.

internal import CDarwinNotify

/// Throws if a C function returned an error.
func check(_ result: CInt) throws(DarwinNotifyError) {
  guard result >= 0 else { throw DarwinNotifyError(rawValue: -result) }
}

/// Throws if a C function that registers returned an error. Being registered without a bus is none.
func checkRegistration(_ result: CInt) throws(DarwinNotifyError) {
  guard dn_is_offline(result) == 0 else { return }
  try check(result)
}

extension NotificationObservation {
  /// Takes over the reference that a C function returned on success.
  convenience init(adoptingRegistered observer: OpaquePointer?) {
    guard let observer else { preconditionFailure("C returned success without an observer") }
    self.init(adopting: observer)
  }
}
