// Turns the statuses of <notify.h> into Swift errors.

internal import CDarwinNotify

/// Throws the error that a function of `<notify.h>` has returned.
func checkStatus(_ status: UInt32) throws(NotifyError) {
  guard status == UInt32(NOTIFY_STATUS_OK) else { throw NotifyError(rawValue: status) }
}

/// Passes a name on to `<notify.h>`, which would read it only up to a NUL.
func withCString(
  _ name: NotificationName, _ body: (UnsafePointer<CChar>) throws(NotifyError) -> Void
) throws(NotifyError) {
  try withCString(name.rawValue, orThrow: .invalidName, body)
}
