// Identifies the process behind an event.

internal import Glibc

/// The process behind a post, a message, a change or a request.
///
/// One condition leaves out the posts of this process:
///
///     guard event.sender?.isOwn != true else { return }
///
/// Unknown properties are `nil`. The bus reports the senders of requests and posts. The programs of
/// a group identify themselves in its files, so their names are for display and prove nothing.
///
/// The corresponding C type is `dn_sender`.
public struct Sender: Hashable, Sendable {
  /// Whether it is this process and, for a post or a request, used the same center. A forked child
  /// is another process.
  public let isOwn: Bool

  /// The process identifier. Processes of different PID namespaces may have the same one.
  public let process: Int32?

  /// The effective user ID.
  public let user: UInt32?

  /// The name of its connection to the bus, such as `:1.42`, which is never used again.
  public let connection: String?

  /// The name of the program.
  public let program: String?

  /// The machine, if a relay brought the message from another one.
  public let machine: String?

  /// Creates a sender, for example to test a listener.
  ///
  /// - Parameters:
  ///   - isOwn: whether it is this process.
  ///   - process: the process identifier.
  ///   - user: the effective user ID.
  ///   - connection: the name of the connection.
  ///   - program: the name of the program.
  ///   - machine: the machine.
  public init(
    isOwn: Bool = false, process: Int32? = nil, user: UInt32? = nil, connection: String? = nil,
    program: String? = nil, machine: String? = nil
  ) {
    (self.isOwn, self.process, self.user) = (isOwn, process, user)
    (self.connection, self.program, self.machine) = (connection, program, machine)
  }

  /// This process.
  public static var current: Self {
    Self(isOwn: true, process: getpid(), user: geteuid(), program: ownProgram)
  }

  /// Whether its effective user is that of this process.
  public var isSameUser: Bool { user == geteuid() }
}

extension Sender {
  /// The name of this program.
  package static let ownProgram: String = {
    let path = CommandLine.arguments.first ?? ""
    return String(path.split(separator: "/").last ?? "").clipped(to: 255)
  }()
}

extension String {
  /// As many leading characters as fit into a number of bytes.
  fileprivate func clipped(to count: Int) -> String {
    var text = self
    while text.utf8.count > count { text.removeLast() }
    return text
  }
}
