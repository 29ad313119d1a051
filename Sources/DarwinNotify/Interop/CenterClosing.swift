// Closes centers.

internal import CDarwinNotify
internal import Dispatch

/// Releases the last reference of a center: nobody else uses the pointer. C may not be asked to
/// close a center on the thread that reads its bus, where the end of a handler may have brought us.
func closeInBackground(_ center: OpaquePointer) {
  nonisolated(unsafe) let center = center
  // It goes to the queue and nowhere else.
  DispatchQueue.global().async { dn_center_unref(center) }
}
