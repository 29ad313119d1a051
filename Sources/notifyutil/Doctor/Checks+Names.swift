// Checks who has registered the name.

import DarwinNotify

extension Checks {
  @Sendable static func similarName(_ scene: Scene) -> [Finding] {
    guard let name = scene.name, scene.lacksObserver else { return [] }
    return scene.candidates.compactMap { other in
      guard let likeness = NameLikeness(name.rawValue, other.name.rawValue) else { return nil }
      return Finding(
        check: "similar-name", certainty: .seen,
        sentence: "nobody has registered \(scene.quotedName), but \(scene.labels(of: other)) has "
          + "\(quotedIfNeeded(other.name.rawValue)), which differs \(likeness.words)",
        remedy: "names are compared byte by byte: use the same constant in both programs")
    }
  }

  @Sendable static func missingObserver(_ scene: Scene) -> [Finding] {
    guard scene.name != nil, scene.lacksObserver, similarName(scene).isEmpty,
      scene.refusal == nil, !scene.isLocal
    else { return [] }
    // Who has no slot is not seen either.
    guard fullTable(scene).isEmpty, unusableTable(scene).isEmpty else { return [] }
    let who = scene.process.map { scene.label(of: $0) } ?? "no process that can be seen"
    return [
      Finding(
        check: "missing-observer", certainty: .seen,
        sentence: scene.process == nil
          ? "\(who) has registered \(scene.quotedName)"
          : "\(who) has not registered \(scene.quotedName)",
        remedy: "start the observer, or see in notifyutil --list what it has registered; "
          + "observers of distributed notifications and programs without this library are not seen")
    ]
  }
}

extension Scene {
  /// Whether none of the processes concerned has registered the name.
  fileprivate var lacksObserver: Bool {
    guard let name else { return false }
    if let process, let look = processes.first(where: { $0.identifier == process }) {
      return !look.tables.isEmpty && !look.holds(name)
    }
    guard process == nil, let content = table.content else { return process == nil }
    return !content.names.contains { $0.name == name }
      && !processes.contains { $0.holds(name) }
  }

  /// The names that may have been meant.
  fileprivate var candidates: [NameRecord] {
    guard let process else { return table.content?.names ?? [] }
    let look = processes.first { $0.identifier == process }
    return (look?.tables ?? []).flatMap { $0.content?.names ?? [] }
      .filter { $0.holders.contains(process) }
  }

  fileprivate func labels(of name: NameRecord) -> String {
    let labels = name.holders.map { holder in
      holder.map { label(of: $0) } ?? "a process of another PID namespace"
    }
    return labels.sorted().joined(separator: ", ")
  }

  func label(of process: Int32) -> String {
    processes.first { $0.identifier == process }?.label ?? "the process \(process)"
  }
}

/// How two names differ that are easily taken for each other.
enum NameLikeness: Equatable {
  case inCase
  case inUnicodeForm
  case inALetter

  init?(_ name: String, _ other: String) {
    // Strings are equal if their characters are, whatever the form.
    if name == other {
      self = .inUnicodeForm
    } else if name.lowercased() == other.lowercased() {
      self = .inCase
    } else if name.count > 3, Self.differInALetter(Array(name), Array(other)) {
      self = .inALetter
    } else {
      return nil
    }
  }

  var words: String {
    switch self {
    case .inCase: "in upper and lower case"
    case .inUnicodeForm: "in its Unicode form"
    case .inALetter: "in a letter"
    }
  }

  /// Whether one letter is replaced, left out or added, or two neighbours are exchanged.
  private static func differInALetter(_ name: [Character], _ other: [Character]) -> Bool {
    let prefix = zip(name, other).prefix { $0 == $1 }.count
    let (rest, otherRest) = (name.dropFirst(prefix), other.dropFirst(prefix))
    switch rest.count - otherRest.count {
    case 0:
      return rest.dropFirst().elementsEqual(otherRest.dropFirst())
        || (rest.prefix(2).reversed().elementsEqual(otherRest.prefix(2))
          && rest.dropFirst(2).elementsEqual(otherRest.dropFirst(2)))
    case 1: return rest.dropFirst().elementsEqual(otherRest)
    case -1: return otherRest.dropFirst().elementsEqual(rest)
    default: return false
    }
  }
}
