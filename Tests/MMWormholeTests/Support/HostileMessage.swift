// Lists messages that no program should have stored.

/// A message that cannot be read.
struct HostileMessage {
  let codec: String
  let data: Data

  private init(_ codec: String, _ data: Data) { (self.codec, self.data) = (codec, data) }

  private static func archive(_ tree: Any) -> Self {
    let data = try? PropertyListSerialization.data(
      fromPropertyList: [tree], format: .binary, options: 0)
    return Self("archive", data ?? Data())
  }

  private static func object(_ name: Any, _ members: [String: Any] = [:]) -> Self {
    archive([members.merging(["$class": name]) { $1 }])
  }

  /// The messages, by their names.
  static let all: [String: Self] = [
    "class-unknown": object("MailboxKit.Nobody"),
    "class-unknown-module": object("Nowhere.Reminder"),
    "class-not-archived": object("mailboxes.CounterController"),
    "class-of-foundation": object("NSError", ["NSCode": 1]),
    "class-of-foundation-by-module": object("Foundation.NSDecimalNumber"),
    "class-of-foundation-mangled": object("10Foundation13NSMeasurementC\0.x"),
    "class-nested": object("mailboxes.Outer.Inner"),
    "class-empty": object(""),
    "class-number": object(7),
    "class-list": object(["MailboxKit.Reminder", "NSObject"]),
    "class-nul": object("MailboxKit.Reminder\0"),
    "class-inside": object("MailboxKit.Reminder", ["title": ["$class": "NSThread"]]),
    "class-forged": keyedArchive,
    "incomplete": object("MailboxKit.Reminder"),
    "incomplete-inside": archive([
      "$class": "NSSet", "objects": [["$class": "MailboxKit.Reminder"]],
    ]),
    "field-of-another-class": object("MailboxKit.Reminder", ["title": 1, "due": "x"]),
    "url": object("NSURL"), "uuid": object("NSUUID", ["text": "no"]),
    "set": object("NSSet", ["objects": 1]),
    "dictionary": object("NSDictionary", ["keys": [1, 2], "objects": [1]]),
    "dictionary-key": object("NSDictionary", ["keys": [["$class": "NSNull"]]]),
    "truncated": Self("archive", keyedArchive.data.dropLast(9)),
    "empty-archive": Self("archive", Data()), "no-archive": Self("archive", Data("text".utf8)),
    "empty-list": Self("plist", list([[0xA0]])),
    "xml": Self("plist", Data("<plist version=\"1.0\"><array><true/></array></plist>".utf8)),
    "reference": Self("plist", list([[0xA1, 1], [0x80, 1]])),
    "cycle": Self("plist", list([[0xA1, 0]])), "cycle-archive": Self("archive", list([[0xA1, 0]])),
    "deep": Self("plist", nested(600)), "deep-archive": Self("archive", nested(200)),
    "billions": Self("plist", list((1...64).map { [0xA2, $0, $0] } + [[0x09]])),
    "large-leaves": Self("plist", largeLeaves),
    "outside": Self("plist", list([[0xA1, 200]])), "no-text": Self("json", Data([0xFF])),
    "deep-json": Self("json", Data(repeating: UInt8(ascii: "["), count: 100_000)),
    "number": Self("json", Data("1e999".utf8)), "codec": Self("pickle\n", Data([1])),
    "raw-keyed": Self("bplist", keyedArchive.data),
  ]

  /// What Foundation archives, as a message that claims to be of a harmless class.
  private static let keyedArchive: Self = {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.encode([NSNull()] as NSArray, forKey: NSKeyedArchiveRootObjectKey)
    archiver.finishEncoding()
    return Self("archive", archiver.encodedData)
  }()

  /// 20,000 times the same text of 30,000 bytes.
  private static let largeLeaves = list([
    [0xAF, 0x11, 0x4E, 0x20] + [UInt8](repeating: 1, count: 20_000),
    [0x5F, 0x11, 0x75, 0x30] + [UInt8](repeating: UInt8(ascii: "a"), count: 30_000),
  ])

  /// A binary property list of objects with numbers of one byte.
  private static func list(_ objects: [[UInt8]]) -> Data {
    var data = Data("bplist00".utf8)
    var offsets: [UInt16] = []
    for object in objects {
      offsets.append(UInt16(data.count))
      data += object
    }
    let table = data.count
    for offset in offsets { data += [UInt8(offset >> 8), UInt8(offset & 0xFF)] }
    data += [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] {
      data += withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) }
    }
    return data
  }

  private static func nested(_ depth: Int) -> Data {
    var tree: Any = [true]
    for _ in 1..<depth { tree = [tree] }
    return
      (try? PropertyListSerialization.data(
        fromPropertyList: tree, format: .binary, options: 0)) ?? Data()
  }
}
