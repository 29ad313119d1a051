// Reads what a broker sends.

@testable internal import notifyrelay

/// Reads bytes that arrive in pieces of a given size. Returns the packets, and whether the reader
/// has refused one.
private func read(_ bytes: ArraySlice<UInt8>, inPiecesOf size: Int) -> [String] {
  // Only 64 bytes of a message are kept, so that even a short input has messages that are too long.
  var reader = PacketReader(maxPayload: 64 - (128 << 10))
  var packets: [String] = []
  var rest = bytes
  do {
    while !rest.isEmpty {
      reader.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let packet = try reader.next() { packets.append("\(packet)") }
    }
  } catch {
    packets.append("\(error)")
  }
  return packets
}

/// Called by libFuzzer. The first byte is the size of the pieces in which the others arrive.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 1 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count)).dropFirst()
  guard read(bytes, inPiecesOf: count) == read(bytes, inPiecesOf: Int(start[0]) + 1) else {
    fatalError("what is read depends on the pieces")
  }
  return 0
}
