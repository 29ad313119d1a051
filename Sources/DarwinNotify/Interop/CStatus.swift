// Converts the statuses of <notify.h> to Swift errors.

internal import CDarwinNotify

/// Throws if a function of `<notify.h>` returned an error.
func checkStatus(_ status: UInt32) throws(NotifyError) {
  guard status == UInt32(NOTIFY_STATUS_OK) else { throw NotifyError(rawValue: status) }
}

/// Passes a name to `<notify.h>`. A name that contains a NUL is refused, since C would read only up
/// to it.
func withCString(
  _ name: NotificationName, _ body: (UnsafePointer<CChar>) throws(NotifyError) -> Void
) throws(NotifyError) {
  try withCString(name.rawValue, orThrow: .invalidName, body)
}
