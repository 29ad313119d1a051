// Times a call of ten delegates.
import Delegation
import Foundation
import Synchronization

private protocol PlayerEvents: AnyObject, Sendable {
  func didStart(_ track: Int)
}

private final class Listener: PlayerEvents {
  private let last = Atomic<Int>(0)

  func didStart(_ track: Int) {
    last.store(track, ordering: .relaxed)
  }
}

/// A second delegate type, so that the compiler does not know which one is called.
private final class Counter: PlayerEvents {
  private let count = Atomic<Int>(0)

  func didStart(_ track: Int) {
    count.add(1, ordering: .relaxed)
  }
}

private struct WeakReference {
  weak var listener: (any PlayerEvents)?
}

func measureEvents(calls: Int) async {
  let listeners = (0..<10).map { $0 % 2 == 0 ? Listener() : Counter() as any PlayerEvents }
  let references = listeners.map { WeakReference(listener: $0) }
  let center = NotificationCenter()
  let name = Notification.Name("didStart")
  let observers = listeners.map { listener in
    center.addObserver(forName: name, object: nil, queue: nil) { notification in
      listener.didStart(notification.object as? Int ?? 0)
    }
  }
  let multicast = makeMulticast(listeners)
  let crowd = (0..<manyKinds).map { _ in makeMulticast(listeners) }
  let one = crowd[manyKinds / 2]
  _ = await compare(
    "events", calls: calls,
    [
      (
        "a loop over weak references",
        { calls in
          time(calls) { track in
            for index in references.indices { references[index].listener?.didStart(track) }
          }
        }
      ),
      ("MulticastDelegate", { time($0) { track in multicast.each { $0.didStart(track) } } }),
      (
        "MulticastDelegate, one of 10,000",
        { time($0) { track in one.each { $0.didStart(track) } } }
      ),
      ("NotificationCenter", { time($0) { center.post(name: name, object: $0) } }),
    ])
  for observer in observers { center.removeObserver(observer) }
  withExtendedLifetime((listeners, crowd)) {}
}

private func makeMulticast(_ listeners: [any PlayerEvents]) -> MulticastDelegate<any PlayerEvents> {
  let multicast = MulticastDelegate<any PlayerEvents>()
  for listener in listeners {
    do { try multicast.add(listener, on: .inline) } catch { fatalError("\(error)") }
  }
  return multicast
}
