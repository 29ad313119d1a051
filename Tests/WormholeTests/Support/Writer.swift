// Passes messages during a test.
import Synchronization
import Wormhole

/// A thread that passes 0, 1, 2 and so on, until it is stopped or has passed a number of messages.
///
/// A task that never pauses would leave no thread to other tests.
final class Writer: Sendable {
  private let isToStop = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)

  init(_ hole: Wormhole, to name: MessageName<Int>, count: Int = .max) {
    Thread.detachNewThread { [self] in
      for number in 0..<count {
        if isToStop.load(ordering: .acquiring) { break }
        _ = try? hole.blocking.pass(number, to: name)
      }
      isOver.store(true, ordering: .releasing)
    }
  }

  func stop() async {
    isToStop.store(true, ordering: .releasing)
    await eventually("the writer did not stop") { self.isOver.load(ordering: .acquiring) }
  }
}
