// Registers closures for tokens that are plain numbers.

internal import CDarwinNotify
package import Dispatch

/// Registers a closure that is submitted to a queue for each post, and sets a token on success,
/// before the first call.
///
/// - Returns: a status of `<notify.h>`.
///
/// The corresponding C function is `dn_notify_register_callback`.
package func registerDispatch(
  _ name: UnsafePointer<CChar>?, _ token: UnsafeMutablePointer<CInt>?, _ queue: DispatchQueue,
  _ handler: @escaping @Sendable (CInt) -> Void
) -> UInt32 {
  var handler = dn_token_handler(handler)
  return Delivery.queue(queue).withExecutor {
    dn_notify_register_callback(name, &handler, $0, token)
  }
}
