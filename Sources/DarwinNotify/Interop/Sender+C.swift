// Copies the senders that C lends.

internal import CDarwinNotify
internal import DarwinNotifySupport

extension Sender {
  /// Copies a sender.
  init(_ sender: dn_sender) {
    self.init(
      isOwn: sender.is_own, process: sender.process == 0 ? nil : sender.process,
      user: sender.user == .max ? nil : sender.user,
      connection: sender.name.map { String(cString: $0) },
      program: sender.is_own ? Sender.ownProgram : nil)
  }

  /// Copies the sender of an event, if it is known.
  init?(of event: dn_event) {
    guard let sender = event.sender else { return nil }
    self.init(sender.pointee)
  }
}
