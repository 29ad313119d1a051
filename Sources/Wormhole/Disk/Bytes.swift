// Encodes the fields of files.

/// Appends fields, numbers in little-endian order.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  /// Starts empty, with room for some bytes.
  init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ text: some Sequence<UInt8>) {
    bytes.append(contentsOf: text)
  }

  /// Overwrites a placeholder.
  mutating func replace(at offset: Int, with value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { source in
      bytes.replaceSubrange(offset..<offset + source.count, with: source)
    }
  }
}

/// Reads fields one after the other. The caller has made sure that they are there.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func take<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  mutating func take(count: Int) -> UnsafeRawBufferPointer {
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }
}

/// Returns a checksum that detects accidents, not tampering.
///
/// It runs four sums side by side, since each step of a sum waits for the one before.
func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  let prime: UInt64 = 0x9e37_79b9_7f4a_7c15
  var sums = SIMD4<UInt64>(1, 2, 3, 4) &* prime
  let whole = bytes.count & ~31
  for offset in stride(from: 0, to: whole, by: 32) {
    let words = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    sums = (sums ^ words) &* prime
    sums ^= sums &>> 29
  }
  var sum = UInt64(bytes.count)
  for index in 0..<4 { sum = (sum ^ sums[index]) &* prime }
  for byte in bytes[whole...] { sum = (sum ^ UInt64(byte)) &* prime }
  return (sum ^ sum >> 32).littleEndian
}
