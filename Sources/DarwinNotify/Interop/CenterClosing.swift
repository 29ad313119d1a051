// Closes centers.

internal import CDarwinNotify
internal import Dispatch

/// Releases the last reference of a center: nobody else uses the pointer. C must not close a center
/// on the thread that reads its bus, and the end of a handler may have brought us there.
func closeInBackground(_ center: OpaquePointer) {
  nonisolated(unsafe) let center = center
  // It goes to the queue and nowhere else.
  DispatchQueue.global().async { dn_center_unref(center) }
}
