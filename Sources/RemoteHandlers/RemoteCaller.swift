// The caller of a request.

internal import DarwinNotify
internal import Glibc

/// The process that has sent a request, as its bus reports it.
public struct RemoteCaller: Hashable, Sendable {
  /// The name of its connection, such as `:1.42`, which is never used again.
  public let name: String

  /// Its effective user ID; `nil` if the bus does not know.
  public let user: UInt32?

  /// Its process ID; `nil` if the bus does not know.
  public let process: Int32?

  /// The caller of the request that the current task handles; `nil` if it did not
  /// come through a ``RemoteService``.
  @TaskLocal public static var current: RemoteCaller?

  /// Whether it has the effective user of this process.
  public var isSameUser: Bool { user == geteuid() }

  init(name: String, user: UInt32?, process: Int32?) {
    self.name = name
    self.user = user
    self.process = process
  }

  init(_ info: RequestInfo) {
    self.init(
      name: info.callerName, user: info.callerUser == .max ? nil : info.callerUser,
      process: info.callerProcess)
  }
}
