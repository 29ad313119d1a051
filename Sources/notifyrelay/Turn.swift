// Lets one thread at a time use what belongs to the relay.

import Glibc

/// The turn to use the relay, which one thread has at a time.
///
/// The thread that hears news takes the turn and handles it, so the main thread need not be woken.
/// While another thread has the turn, the news is left to that thread: only the main thread waits.
final class Turn: @unchecked Sendable {
  // The mutex guards all that changes, except `finish`, which is set before there is another
  // thread.

  /// Handles the news, at the end of each turn.
  var finish: () -> Void = {}

  /// Readable when the main thread must take a turn.
  let descriptor: CInt

  private let writeEnd: CInt
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isTaken = false
  /// Whether the main thread waits for its turn.
  private var isAwaited = false
  private var hasNews = false

  /// How often the news is looked for in one turn: in a flood there is always more.
  private static let maxRounds = 16

  init() {
    guard let pipe = makePipe() else { fatalError("no descriptors left") }
    (descriptor, writeEnd) = pipe
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  /// Waits for the turn, for the main thread.
  func take(_ body: () -> Void) {
    locked {
      isAwaited = true
      while isTaken { pthread_cond_wait(changed, mutex) }
      (isTaken, isAwaited) = (true, false)
    }
    body()
    end()
  }

  /// Wakes the main thread.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Takes note that the main thread was woken.
  func clearRing() {
    var bytes: (UInt64, UInt64) = (0, 0)
    _ = read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes))
  }

  /// Takes a turn to handle news. If another thread has the turn, that one handles it.
  func takeForNews() {
    let isOurs = locked {
      hasNews = true
      guard !isTaken, !isAwaited else { return false }
      isTaken = true
      return true
    }
    if isOurs { end() }
  }

  private func end() {
    var rounds = 0
    repeat {
      locked { hasNews = false }
      finish()
      rounds += 1
    } while !isOver(after: rounds)
  }

  /// Ends the turn if nothing has come meanwhile, or somebody else handles it.
  private func isOver(after rounds: Int) -> Bool {
    let isOver = locked {
      guard !hasNews || isAwaited || rounds == Self.maxRounds else { return false }
      if hasNews, !isAwaited { ring() }
      isTaken = false
      return true
    }
    if isOver { pthread_cond_signal(changed) }
    return isOver
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
