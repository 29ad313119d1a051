// A player notifies delegates on different queues.
import Delegation
import Dispatch

protocol PlayerDelegate: AnyObject, Sendable {
  func didStart(_ track: String)
  func position(in track: String) -> Double?
  func isReady(for track: String) async -> Bool
}

/// The optional part of the protocol.
protocol SeekDelegate: PlayerDelegate {
  func didSeek(to second: Double)
}

/// It has one delegate, and does not know that it is a multicast.
final class Player {
  weak var delegate: (any PlayerDelegate)?

  func play(_ track: String) {
    delegate?.didStart(track)
  }
}

extension MulticastDelegate: PlayerDelegate where Delegate == any PlayerDelegate {
  func didStart(_ track: String) { each { $0.didStart(track) } }

  func position(in track: String) -> Double? { first { $0.position(in: track) } }

  func isReady(for track: String) async -> Bool {
    let answers = await all { await $0.isReady(for: track) }
    return answers.allSatisfy { (try? $0.get()) == true }
  }
}

final class Display: PlayerDelegate {
  func didStart(_ track: String) {
    dispatchPrecondition(condition: .onQueue(.main))
    print("display, on the main queue: \(track)")
  }

  func position(in track: String) -> Double? { nil }

  func isReady(for track: String) async -> Bool { true }
}

final class Recorder: SeekDelegate {
  let queue = DispatchQueue(label: "recorder")

  func didStart(_ track: String) {
    dispatchPrecondition(condition: .onQueue(queue))
    print("recorder, on its queue: \(track)")
  }

  func didSeek(to second: Double) {
    print("recorder: sought second \(second)")
  }

  func position(in track: String) -> Double? { 12.5 }

  func isReady(for track: String) async -> Bool { track != "nothing" }
}

func showPlayer() async throws {
  let events = MulticastDelegate<any PlayerDelegate>()
  let (display, recorder, player) = (Display(), Recorder(), Player())
  try events.add(display)
  try events.add(recorder, on: .queue(recorder.queue))
  player.delegate = events

  player.play("Prelude")
  // Each delegate answers after it has handled the earlier events.
  print("player: answers \(await events.all { $0.position(in: "Prelude") }.count)")
  events.each { ($0 as? any SeekDelegate)?.didSeek(to: 30) }
  _ = await events.removeAndWait(display)
  print("player: at second \(events.position(in: "Prelude") ?? 0)")
  print("player: ready \(await events.isReady(for: "nothing")), delegates \(events.count)")
}
