// Looks at everything that the checks judge.

import DarwinNotify
import Glibc
import Synchronization

/// One examination of this shell and of the processes that can be seen from it.
final class Examination: Sendable {
  private let name: NotificationName?
  private let process: Int32?
  private let choice: BusChoice
  private let complaints = Mutex<[String]>([])

  /// How often to look at unread posts, and the pause between two looks.
  private static let looks = 5
  private static let pause = Duration.milliseconds(100)

  /// How long a bus may take to accept this program.
  private static let patience = Duration.seconds(2)

  init(name: NotificationName?, process: Int32?, choice: BusChoice) {
    self.name = name
    self.process = process
    self.choice = choice
  }

  func run() async -> Scene {
    var scene = Scene(name: name, process: process)
    scene.user = geteuid()
    scene.mountNamespace = ProcessFiles(identifier: getpid()).link("ns/mnt")
    scene.refusal = name.flatMap(refusal)
    scene.bus = BusLook(choice)
    let observation = takePart()
    await examineBus(&scene.bus)
    examineTable(&scene.table)
    await findLate(&scene.table)
    var others = Passersby(scene)
    others.examine(&scene)
    observation?.cancel()
    return scene
  }

  private func refusal(of name: NotificationName) -> String? {
    guard (1...511).contains(name.rawValue.utf8.count), !name.rawValue.utf8.contains(0) else {
      return "a name has 1 to 511 bytes without a NUL"
    }
    return Permission.refusal(of: name)
  }

  /// Registers a name of its own, which nobody posts: so the library has to use the bus and the
  /// table, and reports what it cannot.
  private func takePart() -> NotificationObservation? {
    Diagnostics.handler = { [weak self] report in
      self?.complaints.withLock { $0.append(report.text) }
    }
    return try? DarwinNotificationCenter.shared.observe(
      NotificationName("org.darwinnotify.doctor.\(getpid())"), on: .thread
    ) { _ in }
  }

  private func examineBus(_ bus: inout BusLook) async {
    if bus.answer == .answers { await awaitBus() }
    bus.isConnected = DarwinNotificationCenter.shared.isOnBus
    guard bus.isConnected else { return }
    bus.answer = .answers
    let own = ProcessFiles(identifier: getpid())
    if let peers = SocketPeers() {
      bus.socket = own.sockets.lazy.compactMap(peers.peerName).first
    }
    do {
      _ = try await DarwinNotificationCenter.posts(prefix: "org.darwinnotify.doctor.")
    } catch DarwinNotifyError.limitReached {
      bus.refusesRules = true
    } catch {}
  }

  /// A bus that answers may take longer to accept a connection than a registration waits for it.
  private func awaitBus() async {
    let deadline = ContinuousClock.now + Self.patience
    while !DarwinNotificationCenter.shared.isOnBus, .now < deadline {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private func examineTable(_ table: inout TableLook) {
    let statistics = try? DarwinNotificationCenter.shared.statistics()
    table.isUsable = statistics?.sharesTable ?? false
    table.complaints = complaints.withLock { $0 }
    guard case (let path, let descriptor)?? = try? TableSnapshot.find() else { return }
    defer { close(descriptor) }
    table.path = path
    table.file = FileIdentity(descriptor: descriptor)
    table.content = try? TableSnapshot(descriptor: descriptor, nameOfInterest: name)
  }

  /// Finds the processes that have unread posts whenever one looks.
  private func findLate(_ table: inout TableLook) async {
    table.late = table.content?.processesWithUnreadPosts ?? []
    for _ in 1..<Self.looks where !table.late.isEmpty {
      try? await Task.sleep(for: Self.pause)
      guard case (_, let descriptor)?? = try? TableSnapshot.find() else { return }
      defer { close(descriptor) }
      let content = try? TableSnapshot(descriptor: descriptor)
      table.late.formIntersection(content?.processesWithUnreadPosts ?? [])
    }
  }
}

extension TableSnapshot {
  var processesWithUnreadPosts: Set<Int32> {
    Set(processes.filter { $0.unread > 0 }.compactMap(\.identifier))
  }
}

extension BusLook {
  /// Tries the addresses in their order until a bus answers.
  init(_ choice: BusChoice) {
    origin = choice.origin
    advice = choice.advice
    isForAllUsers = choice.isSystem
    isFromDirectory = !choice.isNamed
    for address in choice.addresses {
      let greeting = BusGreeting(BusAddress(address), isSpoken: true)
      self.address = address
      answer = greeting.answer
      reason = greeting.reason
      server = greeting.server
      owner = greeting.owner
      filter = greeting.filter
      if answer == .answers { return }
    }
  }
}
