// Looks at the other processes.

import DarwinNotify
import Glibc

/// Examines processes, each table and each socket once.
struct Passersby {
  private let own: Scene
  private let peers = SocketPeers()
  private var tables: [FileIdentity: TableSnapshot?] = [:]

  /// - Parameter scene: with what is known of this shell.
  init(_ scene: Scene) {
    own = scene
    if let file = scene.table.file { tables[file] = scene.table.content }
  }

  /// Adds the processes that have a table, and the one asked about.
  mutating func examine(_ scene: inout Scene) {
    for identifier in ProcessFiles.identifiers where identifier != getpid() {
      let files = ProcessFiles(identifier: identifier)
      if identifier == own.process, files.hasEnded { continue }
      if let mapped = files.mappedTables {
        guard !mapped.isEmpty || identifier == own.process else { continue }
        scene.processes.append(look(at: files, mapped))
      } else if files.isHidden {
        scene.hiddenProcesses += 1
      }
    }
    scene.processExists = own.process.map(Self.exists) ?? true
  }

  private static func exists(_ process: Int32) -> Bool {
    (kill(process, 0) == 0 || errno == EPERM) && !ProcessFiles(identifier: process).hasEnded
  }

  private mutating func look(at files: ProcessFiles, _ mapped: [MappedFile]) -> ProcessLook {
    var look = ProcessLook(identifier: files.identifier)
    look.program = ProgramName.of(files.identifier)
    look.user = files.user ?? own.user
    look.isStopped = files.isStopped
    look.mountNamespace = files.link("ns/mnt")
    look.tables = mapped.map { file in
      ProcessLook.Table(path: file.path, file: file.identity, content: content(of: file, files))
    }
    let environment = files.environment ?? [:]
    look.runtimeDirectory = environment["XDG_RUNTIME_DIR"]
    look.bus = bus(of: files, BusChoice(environment: environment, user: look.user))
    return look
  }

  private mutating func content(of file: MappedFile, _ files: ProcessFiles) -> TableSnapshot? {
    if let known = tables[file.identity] { return known }
    let descriptor = files.open(file)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let content =
      FileIdentity(descriptor: descriptor) == file.identity
      ? try? TableSnapshot(descriptor: descriptor, nameOfInterest: own.name) : nil
    tables[file.identity] = .some(content)
    return content
  }

  private func bus(of files: ProcessFiles, _ choice: BusChoice) -> ProcessLook.Bus {
    var bus = ProcessLook.Bus(address: choice.addresses.first, isNamed: choice.isNamed)
    let address = bus.address.map(BusAddress.init)
    let names = peers.map { peers in files.sockets.compactMap(peers.peerName) } ?? []
    bus.socket =
      names.first { $0 == own.bus.socket } ?? names.first { $0 == address?.socket }
      ?? names.first { $0.contains("bus") }
    bus.filter = filter(at: bus.socket ?? address?.socket, files)
    return bus
  }

  /// The program that filters what passes a socket of a process.
  private func filter(at socket: String?, _ files: ProcessFiles) -> String? {
    guard let socket else { return nil }
    if socket == own.bus.socket { return own.bus.filter }
    let isAbstract = socket.hasPrefix("@")
    let name = isAbstract ? [0] + Array(socket.utf8.dropFirst()) : Array(socket.utf8)
    let elsewhere = "/proc/\(files.identifier)/root\(socket)"
    var descriptor = BusAddress.connect(to: isAbstract ? name : Array(elsewhere.utf8))
    if descriptor == -ENAMETOOLONG { descriptor = BusAddress.connect(to: name) }
    return BusGreeting(descriptor: descriptor, isSpoken: false).filter
  }
}
