// Reads and writes a mailbox whose two files have arbitrary bytes.

internal import Foundation
internal import FuzzSupport
@testable internal import Wormhole

private struct Value: Codable, Sendable {
  var number: Int?
  var texts: [String]?
  var data: Data?
  var date: Date?
}

private let directory = FuzzDirectory()

/// Also creates the directory of the files.
private let hole: Wormhole = {
  do {
    return try Wormhole(group: AppGroup("group", in: directory.parent), transit: .coordinatedFile)
  } catch {
    fatalError("\(error)")
  }
}()

/// The first byte says whether to correct the checksums, and whether there is a file of numbers:
/// its bytes come next, then those of the message.
private enum Flags {
  static let repairsMessage: UInt8 = 1
  static let repairsNumbers: UInt8 = 2
  static let hasNumbers: UInt8 = 4
}

private func put(_ number: UInt64, at offset: Int, in bytes: inout [UInt8]) {
  for byte in 0..<8 { bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
}

private func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
  bytes.withUnsafeBytes { checksum($0) }
}

private func repairedMessage(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.count >= MessageHeader.fixedBytes else { return bytes }
  var bytes = bytes
  let headerBytes = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
  guard headerBytes >= MessageHeader.fixedBytes, headerBytes <= bytes.count else { return bytes }
  put(UInt64(bytes.count - headerBytes), at: 40, in: &bytes)
  put(sum(bytes[headerBytes...]), at: 48, in: &bytes)
  put(0, at: 72, in: &bytes)
  put(sum(bytes[..<headerBytes]), at: 72, in: &bytes)
  return bytes
}

private func repairedNumbers(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.count == 112 else { return bytes }
  var bytes = bytes
  put(sum(bytes[..<96]), at: 96, in: &bytes)
  return bytes
}

private func use(_ name: MessageName<some Codable & Sendable>) {
  _ = try? hole.blocking.message(name)
  _ = try? hole.blocking.history(name)
}

/// A passed message can be read, whatever was there before.
private func pass(_ value: Int, to name: MessageName<Int>) {
  do throws(WormholeError) {
    try hole.blocking.pass(value, to: name)
  } catch .notification {
    // Nobody is notified, since there is no bus.
  } catch {
    return
  }
  guard let found = try? hole.blocking.message(name), found == value else {
    fatalError("the stored value is not the passed one")
  }
}

/// Called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 0 else { return 0 }
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let flags = bytes[0]
  var rest = bytes.dropFirst()
  _ = hole
  directory.empty("group/wormhole")
  if flags & Flags.hasNumbers != 0 {
    let numbers = Array(rest.prefix(112))
    rest = rest.dropFirst(112)
    directory.write(
      flags & Flags.repairsNumbers != 0 ? repairedNumbers(numbers) : numbers,
      to: "group/wormhole/name.mailbox")
  }
  directory.write(
    flags & Flags.repairsMessage != 0 ? repairedMessage(Array(rest)) : Array(rest),
    to: "group/wormhole/name.message")

  use(MessageName<Value>("name", codec: .json))
  use(MessageName<Value>("name", codec: .propertyList))
  use(MessageName<Data>("name", codec: .raw))
  _ = try? hole.blocking.update(MessageName<Int>("name")) { $0 = ($0 ?? 0) &+ 1 }
  _ = try? hole.blocking.ping(MessageName<Int>("name"))
  pass(7, to: MessageName<Int>("name"))
  return 0
}
