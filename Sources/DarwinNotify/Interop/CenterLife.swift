// Manages the life of centers.

internal import CDarwinNotify
internal import Dispatch

/// Opens a center on a bus by a C function, `dn_center_open` or its like. The caller owns it.
func openCenter(
  on bus: DarwinNotificationCenter.Bus,
  by open: (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> CInt
) throws(DarwinNotifyError) -> OpaquePointer? {
  var center: OpaquePointer?
  try withCString(bus.specification) { (specification) throws(DarwinNotifyError) in
    try check(open(specification, &center))
  }
  return center
}

/// Releases the last reference of a center: nobody else uses the pointer. C must not close a center
/// on the thread that reads its bus, and the end of a handler may have brought us there.
func closeInBackground(_ center: OpaquePointer) {
  nonisolated(unsafe) let center = center
  // It goes to the queue and nowhere else.
  DispatchQueue.global().async { dn_center_unref(center) }
}
