// Registers closures, which C can do with blocks alone.
// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import var CDarwinNotify.NOTIFY_STATUS_NULL_INPUT
internal import DarwinNotify
// On macOS <notify.h> includes <dispatch/dispatch.h>, so sources import `notify` alone.
@_exported public import Dispatch

/// A closure that is passed the token it was registered with.
public typealias notify_handler_t = (Int32) -> Void

/// Registers a closure that is submitted to a queue for each post.
///
/// - Parameters:
///   - name: the name to register for; copied.
///   - out_token: set on success only, before the first call.
///   - queue: where the closure runs; retained until the token is cancelled.
///   - handler: released after the token has been cancelled with `notify_cancel`. Nothing checks
///     that what it captures may be used on the queue: its type is Apple's.
/// - Returns: a status of `<notify.h>`: `NOTIFY_STATUS_OK`; `NOTIFY_STATUS_NULL_INPUT` if anything
///   but the name is `nil`; otherwise that of `notify_register_check`.
///
/// It may be called on any thread, and returns after the bus has confirmed. The corresponding C
/// functions are `notify_register_dispatch`, `dn_notify_register_callback`.
@discardableResult
public func notify_register_dispatch(
  _ name: UnsafePointer<CChar>!, _ out_token: UnsafeMutablePointer<Int32>!,
  _ queue: DispatchQueue!, _ handler: notify_handler_t!
) -> UInt32 {
  guard let queue, let handler else { return UInt32(NOTIFY_STATUS_NULL_INPUT) }
  // Apple's type does not say that the closure goes to another thread.
  nonisolated(unsafe) let call = handler
  return registerDispatch(name, out_token, queue) { call($0) }
}
