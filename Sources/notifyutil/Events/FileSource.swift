// Registers all keys with one descriptor.
import DarwinNotify
import Dispatch
import Glibc

final class FileSource: EventSource {
  private let queue: DispatchQueue
  private let report: @Sendable (CInt) -> Void
  private var tokens: [NotifyToken] = []
  private var reader: (any DispatchSourceRead)?

  init(_ queue: DispatchQueue, _ report: @escaping @Sendable (CInt) -> Void) {
    self.queue = queue
    self.report = report
  }

  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken {
    let sharing = tokens.first.map { NotifyToken.Descriptor.shared(with: $0) }
    let token = try NotifyToken(key, descriptor: sharing ?? .new)
    tokens.append(token)
    if reader == nil, let descriptor = token.fileDescriptor { startReading(descriptor) }
    return token
  }

  /// Cancelling the last token closes the descriptor, so nothing must be waiting for it by then.
  func end(_ token: NotifyToken) {
    tokens.removeAll { $0 === token }
    guard tokens.isEmpty, let reader else { return token.cancel() }
    reader.setCancelHandler { token.cancel() }
    reader.cancel()
    self.reader = nil
  }

  private func startReading(_ descriptor: CInt) {
    let reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    reader.setEventHandler { [report] in
      var number: Int32 = 0
      // Tokens are written whole, and there is one.
      if read(descriptor, &number, 4) == 4 { report(Int32(bigEndian: number)) }
    }
    reader.activate()
    self.reader = reader
  }
}
