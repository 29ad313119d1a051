// Names the process behind a message or a change.

internal import Foundation

/// The process that passed a message or made a change, as it was then.
///
/// What is kept in an app group can only be written by processes of its user, and they sign it
/// themselves: a number to show, no proof.
public struct Sender: Hashable, Sendable {
  /// The process identifier, in the pid namespace of the sender.
  public let pid: Int32

  /// The effective user identifier.
  public let uid: UInt32

  /// Makes a sender, as a test of a listener may want to.
  ///
  /// - Parameters:
  ///   - pid: the process identifier.
  ///   - uid: the user identifier.
  public init(pid: Int32, uid: UInt32) {
    self.pid = pid
    self.uid = uid
  }

  /// The process that asks. Asked for each time: a forked child is another one.
  public static var current: Sender { Sender(pid: getpid(), uid: geteuid()) }
}
