// Specifies that no property list costs its reader more than it should.

@testable import Wormhole

@Suite(.bounded)
struct PropertyListTests {
  /// A list of lists.
  private struct Tree: Codable, Equatable {
    var branches: [Tree] = []

    init(_ branches: [Tree] = []) { self.branches = branches }
    init(from decoder: any Decoder) throws {
      branches = try decoder.singleValueContainer().decode([Tree].self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(branches)
    }

    static func nested(_ depth: Int) -> Tree {
      (1..<depth).reduce(Tree()) { tree, _ in Tree([tree]) }
    }
  }

  private let codec = MessageCodec.propertyList

  @Test func equalContainersMayBeStoredOnce() throws {
    let trees = Array(repeating: Tree.nested(3), count: 10_000)
    #expect(try codec.decode([Tree].self, from: codec.encode(trees)) == trees)
  }

  @Test func listsOfAnyKindOfValueAreAccepted() throws {
    let table = ["a": [1, 2.5, -3], "b": [], "\u{e9}": Array(repeating: 1e300, count: 300)]
    #expect(try codec.decode([String: [Double]].self, from: codec.encode(table)) == table)
    let dates = [Date.distantPast: Data(count: 70_000), .distantFuture: Data()]
    #expect(try codec.decode([Date: Data].self, from: codec.encode(dates)) == dates)
  }

  @Test func listsThatAreNestedTooDeeplyAreRefused() throws {
    let limit = BinaryPropertyList.maxDepth
    let tree = Tree.nested(limit - 1)
    #expect(try codec.decode(Tree.self, from: codec.encode(tree)) == tree)
    let error = WormholeError.decoding
    for depth in [limit, limit + 1, 20_000] {
      let data = Self.chain(depth)
      #expect(throws: error) { try codec.decode(Tree.self, from: data) }
    }
  }

  @Test(arguments: [
    [[0xA1, 0]], [[0xA1, 1], [0xA1, 0]], [[0xD1, 1, 0], [0x09]], [[0xC1, 0]],
  ])
  func aListThatContainsItselfIsRefused(_ objects: [[UInt8]]) {
    let data = Self.list(objects)
    #expect(throws: WormholeError.decoding) { try codec.decode(Tree.self, from: data) }
  }

  @Test func aFewBytesDoNotBecomeBillionsOfElements() {
    let objects = (1...200).map { [0xA2, UInt8($0), UInt8($0)] } + [[0xA0]]
    let data = Self.list(objects)
    #expect(throws: WormholeError.decoding) { try codec.decode(Tree.self, from: data) }
  }

  /// Whatever a byte is changed to, the check and the decoder end.
  @Test func everyDamagedListIsReadOrRefused() throws {
    let whole = try codec.encode(["a": [1, 2], "b": [3], "c": [1, 2]])
    for index in whole.indices {
      for byte in [0, 1, 0x0F, 0x1F, 0x7F, 0x80, 0xA1, 0xAF, 0xD3, 0xDF, 0xFF] as [UInt8] {
        var data = whole
        data[index] = byte
        _ = try? codec.decode([String: [Int]].self, from: data)
      }
      _ = try? codec.decode([String: [Int]].self, from: whole[..<index])
    }
  }

  /// Arrays of one element, each of which is the next one.
  private static func chain(_ count: Int) -> Data {
    let references = (1...count).map { [0xA1, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return list(references + [[0xA0]], referenceBytes: 2)
  }

  private static func list(_ objects: [[UInt8]], referenceBytes: UInt8 = 1) -> Data {
    var data = Data("bplist00".utf8)
    var offsets = Data()
    for object in objects {
      offsets += withUnsafeBytes(of: UInt32(data.count).bigEndian) { Data($0) }
      data += object
    }
    let table = data.count
    data += offsets + [0, 0, 0, 0, 0, 0, 4, referenceBytes]
    for number in [objects.count, 0, table] {
      data += withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) }
    }
    return data
  }
}
