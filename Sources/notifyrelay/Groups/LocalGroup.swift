// Knows the message names of a group.

import FoundationEssentials
import Glibc
import Wormhole

/// The wormhole of a group, and its names as they appear.
final class LocalGroup {
  let name: String
  private let hole: Wormhole
  private let loop: Loop
  private let channels: Channels
  private var inotify: CInt = -1

  /// The directory of a wormhole unless a program chooses another.
  static let directoryName = "wormhole"

  init(_ name: String, loop: Loop, channels: Channels) throws {
    self.name = name
    self.loop = loop
    self.channels = channels
    hole = try Wormhole(group: try AppGroup(name))
  }

  /// Finds the existing names, and from now on new ones.
  func begin() throws(Mistake) {
    inotify = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
    guard inotify >= 0 else { throw Mistake.system("\(name) cannot be watched") }
    loop.add(inotify) { [self] in readEvents() }
    watch()
  }

  /// Returns a name of another machine, which is created with the first record.
  func channel(_ message: String, isLog: Bool) -> Channel? {
    channel(message, isLog: isLog, isForeign: true)
  }

  private func channel(_ message: String, isLog: Bool, isForeign: Bool) -> Channel? {
    let address = MessageAddress(group: name, name: message)
    if let known = channels.find(address) { return known.isLog == isLog ? known : nil }
    return channels.add(address, isLog: isLog, isForeign: isForeign, of: hole)
  }

  private func watch() {
    let events = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
    guard inotify_add_watch(inotify, hole.directory.path, events) >= 0 else { return }
    for file in (try? FileManager.default.contentsOfDirectory(atPath: hole.directory.path)) ?? [] {
      find(file)
    }
  }

  private func readEvents() {
    let headerBytes = MemoryLayout<inotify_event>.size
    var buffer = [UInt8](repeating: 0, count: 16 * (headerBytes + 256))
    while true {
      let n = read(inotify, &buffer, buffer.count)
      guard n > 0 else { return }
      var rest = buffer[..<n]
      while rest.count >= headerBytes {
        let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
        let text = rest.dropFirst(headerBytes).prefix(Int(event.len)).prefix { $0 != 0 }
        find(String(decoding: text, as: UTF8.self))
        // Too many files at once, or the directory is gone: look at all of it.
        if event.mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED) != 0 { watch() }
        rest = rest.dropFirst(headerBytes + Int(event.len))
      }
    }
  }

  /// Takes note of a file that belongs to a name.
  private func find(_ file: String) {
    for (suffix, isLog) in [(FileSuffix.log, true), (FileSuffix.mailbox, false)] {
      guard file.hasSuffix(suffix) else { continue }
      let base = FileName(text: String(file.dropLast(suffix.count)))
      guard let message = base.original else { return findLongNames(isLog: isLog) }
      _ = channel(message, isLog: isLog, isForeign: false)
    }
  }

  /// The file name of a long name does not contain it, but the file does.
  private func findLongNames(isLog: Bool) {
    let transit: any MessageTransit = isLog ? .log : .file
    for message in (try? transit.names(in: hole.directory)) ?? [] {
      _ = channel(message, isLog: isLog, isForeign: false)
    }
  }
}

/// The message names of all groups.
final class Channels {
  /// Called with each new one.
  var found: (Channel) -> Void = { _ in }

  private let inbox: Inbox
  private(set) var all: [Channel] = []
  private var indices: [MessageAddress: Int] = [:]

  private var foreignCount = 0
  private var hasRefused = false

  /// Bounds for the memory that strangers can make us use; they must leave enough for the names of
  /// this machine.
  private static let maxCount = 4096
  private static let maxForeignCount = maxCount / 2

  init(inbox: Inbox) {
    self.inbox = inbox
  }

  func find(_ address: MessageAddress) -> Channel? { indices[address].map { all[$0] } }

  fileprivate func add(
    _ address: MessageAddress, isLog: Bool, isForeign: Bool, of hole: Wormhole
  ) -> Channel? {
    let index = all.count
    guard isForeign ? foreignCount < Self.maxForeignCount : index < Self.maxCount,
      let new = try? Channel(
        address, isLog: isLog, of: hole, noteChange: { [inbox] in inbox.note(channel: index) })
    else {
      if !hasRefused {
        say("\(address.name) of \(address.group) and other messages are not shared: too many")
      }
      hasRefused = true
      return nil
    }
    if isForeign { foreignCount += 1 }
    indices[address] = index
    all.append(new)
    found(new)
    return new
  }
}
