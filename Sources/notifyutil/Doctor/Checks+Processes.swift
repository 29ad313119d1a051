// Checks the processes that a post should reach.

extension Checks {
  @Sendable static func missingProcess(_ scene: Scene) -> [Finding] {
    guard let process = scene.process, !scene.processExists else { return [] }
    return [
      Finding(
        check: "missing-process", certainty: .seen,
        sentence: "the process \(process) does not exist, or has ended",
        remedy: "notifyutil --list shows the processes that have registered names")
    ]
  }

  @Sendable static func stoppedProcess(_ scene: Scene) -> [Finding] {
    scene.concerned.filter(\.isStopped).map { process in
      Finding(
        check: "stopped-process", certainty: .seen,
        sentence: "\(process.label) is stopped by a signal or a debugger"
          + (scene.table.late.contains(process.identifier) ? ", and has unread posts" : ""),
        remedy: "continue it: kill -CONT \(process.identifier)")
    }
  }

  @Sendable static func lateProcess(_ scene: Scene) -> [Finding] {
    scene.concerned.filter { scene.table.late.contains($0.identifier) && !$0.isStopped }.map {
      Finding(
        check: "late-process", certainty: .inferred,
        sentence: "\($0.label) had unread posts whenever it was looked at",
        remedy: "a handler of it may run long or wait: see where its threads are, for example "
          + "with gdb -p \($0.identifier)")
    }
  }

  @Sendable static func otherUser(_ scene: Scene) -> [Finding] {
    scene.apart(.user).map { process in
      Finding(
        check: "other-user", certainty: .seen,
        sentence: "\(process.label) belongs to the user \(process.user), this shell to "
          + "\(scene.user): users share neither a table nor a session bus",
        remedy: "run both as the same user, or use the system bus in both: --bus=system")
    }
  }

  @Sendable static func filteredProcess(_ scene: Scene) -> [Finding] {
    scene.apart(.filter).map { process in
      Finding(
        check: "filtered-process", certainty: process.bus.socket == nil ? .inferred : .seen,
        sentence: "\(process.label) reaches the message bus through "
          + "\(process.bus.filter ?? "a filter"), which lets no posts from outside in",
        remedy: sandboxRemedy)
    }
  }

  @Sendable static func otherNamespace(_ scene: Scene) -> [Finding] {
    scene.apart(.namespace).map { process in
      Finding(
        check: "other-namespace", certainty: .seen,
        sentence: "\(process.label) runs in a container or sandbox with other mounts, "
          + "and shares neither the table nor the message bus of this shell",
        remedy: "share the directory of the bus's socket with it, or run the doctor inside: "
          + "nsenter -m -t \(process.identifier) notifyutil --doctor")
    }
  }

  @Sendable static func otherDirectory(_ scene: Scene) -> [Finding] {
    scene.apart(.directory).map { process in
      Finding(
        check: "other-directory", certainty: .seen,
        sentence: "\(process.label) has its table in \(process.directories), this shell in "
          + "\(scene.directory): they have different runtime directories",
        remedy: "start both with the same XDG_RUNTIME_DIR, most of the time "
          + "/run/user/\(scene.user)")
    }
  }

  @Sendable static func otherBus(_ scene: Scene) -> [Finding] {
    scene.apart(.bus).map { process in
      let socket = process.bus.socket.map { "the message bus at \(printable($0))" }
      let address = process.bus.address.map { "the message bus \(printable($0))" }
      let own = scene.bus.address.isEmpty ? "none" : printable(scene.bus.address)
      let other = "a message bus that its environment does not name"
      return Finding(
        check: "other-bus", certainty: socket == nil ? .inferred : .seen,
        sentence: "\(process.label) uses \(socket ?? address ?? other), "
          + "this shell \(own) (\(scene.bus.origin))",
        remedy: "start both with the same DBUS_SESSION_BUS_ADDRESS and DARWIN_NOTIFY_BUS, "
          + "or use --bus")
    }
  }

  @Sendable static func otherVersion(_ scene: Scene) -> [Finding] {
    scene.apart(.version).map { process in
      Finding(
        check: "other-version", certainty: .seen,
        sentence: "\(process.label) uses tables of another version of this library",
        remedy: "restart it with the library that is installed, or connect both to a message bus")
    }
  }

  @Sendable static func hiddenProcess(_ scene: Scene) -> [Finding] {
    guard let process = scene.process, scene.processExists,
      !scene.processes.contains(where: { $0.identifier == process })
    else { return [] }
    return [
      Finding(
        check: "hidden-process", certainty: .unknown,
        sentence: "the process \(process) cannot be examined by this user",
        remedy: "run the doctor as root")
    ]
  }

  @Sendable static func processWithoutTable(_ scene: Scene) -> [Finding] {
    scene.concerned.filter(\.tables.isEmpty).map { process in
      let isOnBus = process.bus.socket != nil
      return Finding(
        check: "process-without-table", certainty: isOnBus ? .unknown : .seen,
        sentence: isOnBus
          ? "\(process.label) has no table, so what it has registered cannot be seen"
          : "\(process.label) has neither a table nor a connection to a message bus",
        remedy: isOnBus
          ? "observers of distributed notifications and programs without this library have none; "
            + "of others, DARWIN_NOTIFY_DEBUG=1 shows why"
          : "it has registered nothing yet, or does not use this library")
    }
  }

  @Sendable static func hiddenProcesses(_ scene: Scene) -> [Finding] {
    guard scene.hiddenProcesses > 0, scene.process == nil else { return [] }
    return [
      Finding(
        check: "hidden-processes", certainty: .unknown,
        sentence: "\(counted(scene.hiddenProcesses, "process", "processes")) of other users "
          + "could not be examined",
        remedy: "run the doctor as root if the observer is one of them")
    ]
  }
}

// MARK: What separates a process from this shell

extension Scene {
  enum Separation {
    case user, filter, namespace, directory, bus, version
  }

  /// The processes concerned that this separates from the shell.
  fileprivate func apart(_ separation: Separation) -> [ProcessLook] {
    concerned.filter { self.separation(from: $0) == separation }
  }

  /// What keeps the posts of this shell from a process; `nil` if they share a table or a bus.
  private func separation(from process: ProcessLook) -> Separation? {
    guard !process.tables.isEmpty, !sharesTable(process), !sharesBus(process) else { return nil }
    // Of users and containers that nobody asked about there may be many.
    let isAsked = self.process != nil || name != nil
    if process.user != user { return isAsked ? .user : nil }
    if process.bus.filter != nil, bus.filter == nil { return .filter }
    if let own = mountNamespace, let other = process.mountNamespace, own != other {
      return isAsked ? .namespace : nil
    }
    if let version = tableParts?.version, !process.tables.contains(where: { $0.version == version })
    {
      return .version
    }
    return isOnlyElsewhere(process) ? .directory : .bus
  }

  private var tableParts: ProcessLook.Table? {
    guard let path = table.path, let file = table.file else { return nil }
    return ProcessLook.Table(path: path, file: file, content: nil)
  }

  /// Whether just the directory differs: the name of the file, which stands for the address of the
  /// bus, is the same, or both addresses follow from the directory.
  private func isOnlyElsewhere(_ process: ProcessLook) -> Bool {
    guard let own = tableParts?.parts else { return false }
    if process.tables.contains(where: { $0.parts.name == own.name }) { return true }
    return bus.isFromDirectory && !process.bus.isNamed
      && !process.tables.contains { $0.parts.directory == own.directory }
  }

  fileprivate var directory: String { printable(tableParts?.parts.directory ?? "none") }
}

extension ProcessLook {
  fileprivate var directories: String {
    tables.map { printable($0.parts.directory) }.joined(separator: " and ")
  }
}
