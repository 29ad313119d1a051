// Chooses the descriptor of a token.

internal import CDarwinNotify

extension NotifyToken {
  /// The descriptor that the posts of a token make readable.
  ///
  /// The corresponding C parameters are `notify_fd`, `flags` of `notify_register_file_descriptor`.
  public enum Descriptor: Sendable {
    /// The read end of a new pipe.
    case new

    /// The descriptor of another token, which has to be valid.
    ///
    /// The corresponding C constant is `NOTIFY_REUSE`.
    case shared(with: NotifyToken)
  }
}

extension NotifyToken.Descriptor {
  /// What C is handed: a descriptor, if there is one already, with the flags.
  func cArguments() throws(NotifyError) -> (descriptor: CInt, flags: CInt) {
    switch self {
    case .new: return (-1, 0)
    case .shared(let token):
      guard let descriptor = token.fileDescriptor else { throw .invalidFile }
      return (descriptor, NOTIFY_REUSE)
    }
  }
}
