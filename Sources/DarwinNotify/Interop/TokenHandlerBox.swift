// Carries the handlers of tokens through C.

internal import CDarwinNotify

/// A handler together with the token that it is registered for.
///
/// The token owns the registration, which owns this: the way back does not keep the token alive.
private final class TokenHandlerBox: Sendable {
  private weak let token: NotifyToken?
  private let handler: @Sendable (NotifyToken) -> Void

  init(_ token: NotifyToken, _ handler: @escaping @Sendable (NotifyToken) -> Void) {
    self.token = token
    self.handler = handler
  }

  /// Calls the handler, unless the value that holds the registration is on its way out.
  func call(number: CInt) {
    guard let token else { return }
    token.adopt(number: number)
    handler(token)
  }
}

extension dn_token_handler {
  /// Makes the C form of a handler, which has to be handed to C: it owns a reference.
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
