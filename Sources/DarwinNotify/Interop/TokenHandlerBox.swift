// Carries the handlers of tokens through C.

internal import CDarwinNotify

/// A handler and the token it is registered for.
///
/// The token owns the registration, which owns this box; the reference back does not keep the token
/// alive.
private final class TokenHandlerBox: Sendable {
  private weak let token: NotifyToken?
  private let handler: @Sendable (NotifyToken) -> Void

  init(_ token: NotifyToken, _ handler: @escaping @Sendable (NotifyToken) -> Void) {
    self.token = token
    self.handler = handler
  }

  /// Calls the handler, unless the token is being freed.
  func call(number: CInt) {
    guard let token else { return }
    token.adopt(number: number)
    handler(token)
  }
}

extension dn_token_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  init(for token: NotifyToken, _ handler: @escaping @Sendable (NotifyToken) -> Void) {
    self.init(
      invoke: { number, context in
        Context.borrow(context, as: TokenHandlerBox.self).call(number: number)
      },
      context: Context.retain(TokenHandlerBox(token, handler)),
      destroy: Context.release
    )
  }
}
