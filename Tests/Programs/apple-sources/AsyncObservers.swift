// Wrappers with actors and with AsyncStream.

#if canImport(CFNotificationCenter)
  import CFNotificationCenter
#else
  import CoreFoundation
#endif
import Foundation
import notify

/// Hands each post to an actor.
actor PostCounter {
  private var counts: [String: Int] = [:]

  func count(_ name: String) -> Int {
    counts[name, default: 0] += 1
    return counts[name, default: 0]
  }

  nonisolated func observe(_ name: String, then handler: @escaping @Sendable (Int) -> Void) {
    var token: Int32 = 0
    name.withCString {
      _ = notify_register_dispatch($0, &token, DispatchQueue.global()) { [weak self] _ in
        guard let self else { return }
        Task { handler(await self.count("posts")) }
      }
    }
  }
}

/// The posts of a name as a stream that ends the registration with its task.
func posts(of name: String) -> AsyncStream<Void> {
  AsyncStream { continuation in
    var token = NOTIFY_TOKEN_INVALID
    let status = notify_register_dispatch(name, &token, .global()) { _ in continuation.yield() }
    guard status == NOTIFY_STATUS_OK else {
      continuation.finish()
      return
    }
    let registered = token
    continuation.onTermination = { _ in notify_cancel(registered) }
  }
}

/// The same on the Darwin notify center.
final class StreamObserver: @unchecked Sendable {
  private var continuation: AsyncStream<String>.Continuation?

  func stream(_ name: String) -> AsyncStream<String> {
    AsyncStream { continuation in
      self.continuation = continuation
      CFNotificationCenterAddObserver(
        CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque(),
        { _, observer, name, _, _ in
          guard let observer, let name else { return }
          let stream = Unmanaged<StreamObserver>.fromOpaque(observer).takeUnretainedValue()
          stream.continuation?.yield(name.rawValue as String)
        }, name as CFString, nil, .deliverImmediately)
      continuation.onTermination = { _ in self.stop() }
    }
  }

  private func stop() {
    CFNotificationCenterRemoveEveryObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque())
  }
}
