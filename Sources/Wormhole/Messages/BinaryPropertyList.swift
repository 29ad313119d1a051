// Bounds what decoding a binary property list can cost.

package import FoundationEssentials

/// The objects of a binary property list, which is untrusted input.
///
/// Containers refer to their elements by number, so a few bytes can describe a list that contains
/// itself, is nested without end, or has billions of elements once decoded.
package struct BinaryPropertyList {
  /// How deep lists may be nested.
  package static let maxDepth = 512

  /// The limit for the number of elements, including those of nested containers. Elements that are
  /// larger than a few bytes count as several.
  private static let maxElements = 1 << 22
  private static let bytesOfElement = 16

  private let bytes: [UInt8]
  private var offsetBytes = 0
  private var referenceBytes = 0
  private var offsets = 0

  /// The containers that have been measured.
  private var extents: [Int: Extent] = [:]

  private struct Extent {
    var depth = 1
    var elements = 1
  }

  /// Checks a list before it is decoded.
  ///
  /// - Parameter data: the bytes of the list.
  /// - Throws: ``WormholeError/decoding`` if it is not a binary property list, contains itself, is
  ///   nested too deeply, or has too many elements.
  package static func check(_ data: Data) throws(WormholeError) {
    var list = Self(bytes: [UInt8](data))
    _ = try list.extent(of: list.readTrailer(), at: 1)
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads where the objects are. Returns the number of the outermost one.
  private mutating func readTrailer() throws(WormholeError) -> Int {
    let trailer = bytes.count - 32
    // XML lists, which this library never writes, crash the process even at a smaller depth.
    guard bytes.starts(with: Array("bplist00".utf8)), trailer >= 8 else { throw Self.malformed }
    offsetBytes = Int(bytes[trailer + 6])
    referenceBytes = Int(bytes[trailer + 7])
    offsets = try number(at: trailer + 24, bytes: 8)
    return try number(at: trailer + 16, bytes: 8)
  }

  private mutating func extent(of object: Int, at depth: Int) throws(WormholeError) -> Extent {
    var extent = extents[object] ?? Extent()
    if extent.elements == 1 {
      let content = try content(of: object)
      extent.elements += content.bytes / Self.bytesOfElement
      for reference in content.elements {
        guard depth < Self.maxDepth else { throw Self.tooDeep }
        let inner = try self.extent(of: reference, at: depth + 1)
        extent.depth = max(extent.depth, inner.depth + 1)
        extent.elements += inner.elements
        guard extent.elements <= Self.maxElements else {
          throw .decoding("the property list has too many elements")
        }
      }
      if extent.elements > 1 { extents[object] = extent }
    }
    guard depth + extent.depth - 1 <= Self.maxDepth else { throw Self.tooDeep }
    return extent
  }

  /// Returns the numbers of the objects in a container, or the size of data or a text.
  private func content(
    of object: Int
  ) throws(WormholeError) -> (elements: [Int], bytes: Int) {
    let (entry, overflows) = object.multipliedReportingOverflow(by: offsetBytes)
    guard !overflows, entry < bytes.count else { throw Self.malformed }
    let start = try number(at: offsets + entry, bytes: offsetBytes)
    guard start < bytes.count else { throw Self.malformed }
    let kind = bytes[start] >> 4
    // Data, two kinds of text; arrays, two kinds of sets, and dictionaries, whose keys come before
    // their values.
    guard (0x4...0x6).contains(kind) || (0xA...0xD).contains(kind) else { return ([], 0) }
    var (count, next) = (Int(bytes[start] & 0xF), start + 1)
    if count == 0xF {
      guard next < bytes.count, bytes[next] >> 4 == 1 else { throw Self.malformed }
      let width = 1 << Int(bytes[next] & 0xF)
      count = try number(at: next + 1, bytes: width)
      next += 1 + width
    }
    guard count <= bytes.count, referenceBytes > 0 else { throw Self.malformed }
    guard kind >= 0xA else { return ([], count) }
    var elements: [Int] = []
    for index in 0..<(kind == 0xD ? 2 * count : count) {
      elements.append(try number(at: next + index * referenceBytes, bytes: referenceBytes))
    }
    return (elements, 0)
  }

  /// Reads a big-endian number, which cannot be larger than a size that fits in the list.
  private func number(at start: Int, bytes count: Int) throws(WormholeError) -> Int {
    guard start >= 0, (1...8).contains(count), start <= bytes.count - count else {
      throw Self.malformed
    }
    let number = bytes[start..<start + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard number <= UInt64(bytes.count) else { throw Self.malformed }
    return Int(number)
  }

  private static let malformed = WormholeError.decoding("not a binary property list")
  private static let tooDeep = WormholeError.decoding(
    "the property list is nested too deeply, or contains itself")
}
