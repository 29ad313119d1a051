// Lists what can keep a post from arriving.

import DarwinNotify

/// The checks. Each judges a scene, and says in its own words what is the matter and what helps.
enum Checks {
  typealias Check = @Sendable (Scene) -> [Finding]

  /// The worst first: what comes earlier may be the cause of what comes later.
  static let all: [Check] = [
    localName, missingAgent, refusedName, missingProcess, unreachableBus, silentBus, refusingBus,
    filteredShell, unusableTable, stoppedProcess, otherUser, filteredProcess, otherNamespace,
    otherDirectory, otherBus, otherVersion, fullTable, similarName, missingObserver, lateProcess,
    refusedRules, hiddenProcess, processWithoutTable, hiddenProcesses,
  ]

  static func findings(in scene: Scene) -> [Finding] {
    let found = all.flatMap { $0(scene) }
    return found.filter { $0.certainty != .unknown } + found.filter { $0.certainty == .unknown }
  }
}

extension Scene {
  /// The name asked about, for messages.
  var quotedName: String { name.map { quotedIfNeeded($0.rawValue) } ?? "a name" }
}
