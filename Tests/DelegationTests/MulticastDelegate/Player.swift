// Delegates for the tests.

/// The events and questions of a player.
protocol PlayerEvents: AnyObject, Sendable {
  func didStart(_ track: Int)
  func didMove(to second: Double, by who: String)
  func didStop()
  func position(of track: Int) -> Double?
  func volume(of track: Int) throws -> Int
  func prepare(_ track: Int) async throws -> Bool
  func mayStop() -> Bool
}

/// The optional methods.
protocol SeekEvents: PlayerEvents {
  func didSeek(to second: Double)
}

enum PlayerError: Error, Equatable {
  case broken(String)
}

/// A delegate that records its calls.
class Listener: PlayerEvents, @unchecked Sendable {
  // Subclasses also protect by locks what they add.
  let name: String
  let log: Log<String>
  let answer: Double?
  let onStart = Locked<(@Sendable (Int) -> Void)?>(nil)
  let onPrepare = Locked<(@Sendable () async throws -> Bool)?>(nil)

  init(
    _ name: String = "listener", log: Log<String> = Log(), answer: Double? = nil,
    onStart: (@Sendable (Int) -> Void)? = nil,
    onPrepare: (@Sendable () async throws -> Bool)? = nil
  ) {
    self.name = name
    self.log = log
    self.answer = answer
    self.onStart.withLock { $0 = onStart }
    self.onPrepare.withLock { $0 = onPrepare }
  }

  func didStart(_ track: Int) {
    log.append("\(name) \(track)")
    let onStart = onStart.withLock { $0 }
    onStart?(track)
  }

  func didMove(to second: Double, by who: String) {
    log.append("\(name) moved to \(second) by \(who)")
  }

  func didStop() {
    log.append("\(name) stopped")
  }

  func position(of track: Int) -> Double? {
    log.append("\(name) asked")
    return answer
  }

  func volume(of track: Int) throws -> Int {
    guard let answer else { throw PlayerError.broken(name) }
    return Int(answer) + track
  }

  func prepare(_ track: Int) async throws -> Bool {
    let onPrepare = onPrepare.withLock { $0 }
    return try await onPrepare?() ?? true
  }

  func mayStop() -> Bool {
    log.append("\(name) asked")
    return answer != nil
  }
}

/// A delegate with the optional methods.
final class Seeker: Listener, SeekEvents, @unchecked Sendable {
  func didSeek(to second: Double) {
    log.append("\(name) sought \(second)")
  }
}

/// The multicast can be used wherever one delegate is expected.
extension MulticastDelegate: PlayerEvents where Delegate == any PlayerEvents {
  func didStart(_ track: Int) { each { $0.didStart(track) } }
  func didMove(to second: Double, by who: String) { each { $0.didMove(to: second, by: who) } }
  func didStop() { each { $0.didStop() } }
  func position(of track: Int) -> Double? { first { $0.position(of: track) } }
  func volume(of track: Int) throws -> Int { try first { try $0.volume(of: track) } ?? 0 }
  func prepare(_ track: Int) async throws -> Bool {
    try await all { try await $0.prepare(track) }.allSatisfy { try $0.get() }
  }
  func mayStop() -> Bool { first { $0.mayStop() ? nil : false } ?? true }
}

typealias Events = MulticastDelegate<any PlayerEvents>
