// Reads the text files of a relay: settings, credentials and its origin.

internal import Foundation
internal import FuzzSupport
@testable internal import notifyrelay

private let directory = FuzzDirectory()

private func readSettings(_ path: String) throws {
  let realms = try SettingsFile.read(path).finish()
  guard Set(realms.map(\.name)).count == realms.count, realms.allSatisfy({ $0.maxBytes >= 1024 })
  else { fatalError("\(realms)") }
}

/// Called by libFuzzer. The first byte determines the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 0 else { return 0 }
  let text = UnsafeBufferPointer(start: start, count: count).dropFirst()
  directory.write(text, to: "files/origin")
  let path = directory.parent.appendingPathComponent("files").path
  do {
    switch start[0] % 3 {
    case 0: try readSettings("\(path)/origin")
    case 1: _ = try Credentials("\(path)/origin")
    default: _ = try Origin(in: path)
    }
  } catch {
    guard error is Mistake else { fatalError("\(error)") }
  }
  return 0
}
