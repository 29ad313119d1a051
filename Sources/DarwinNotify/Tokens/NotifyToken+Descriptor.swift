// Selects the descriptor of a token.

internal import CDarwinNotify

extension NotifyToken {
  /// The descriptor that becomes readable when the token's name is posted.
  ///
  /// The corresponding C parameters are `notify_fd`, `flags` of `notify_register_file_descriptor`.
  public enum Descriptor: Sendable {
    /// The read end of a new pipe.
    case new

    /// The descriptor of another token, which must be valid.
    ///
    /// The corresponding C constant is `NOTIFY_REUSE`.
    case shared(with: NotifyToken)
  }
}

extension NotifyToken.Descriptor {
  /// The arguments for C: a descriptor, if there already is one, and the flags.
  func cArguments() throws(NotifyError) -> (descriptor: CInt, flags: CInt) {
    switch self {
    case .new: return (-1, 0)
    case .shared(let token):
      guard let descriptor = token.fileDescriptor else { throw .invalidFile }
      return (descriptor, NOTIFY_REUSE)
    }
  }
}
