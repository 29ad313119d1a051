// Opens, reads and writes the state of a relay whose file has arbitrary bytes.

internal import Foundation
internal import FuzzSupport
@testable internal import notifyrelay

private let directory = FuzzDirectory()
private let address = MessageAddress(group: "group", name: "name")

private func use(_ store: Store) {
  _ = try? store.table
  _ = try? store.names()
  _ = try? store.takenStates()
  _ = try? store.origins(in: "home")
  _ = try? store.seen("name", by: Origin(number: 2), in: "home")
  _ = try? store.sent(of: address, in: "home")
  try? store.setTable(7)
  try? store.set(NameRow(count: .max, posted: .min), of: "name")
  try? store.set(TakenState(state: 1, set: 2, origin: Origin(number: 2)), of: "name")
  try? store.set(Origin(number: .max), isKnown: true, in: "home")
  try? store.setSeen(1, of: "name", by: Origin(number: 2), in: "home")
  try? store.set(SentRow(), of: address, in: "home")
  try? store.commit()
}

/// Called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  directory.empty("state")
  directory.write(UnsafeBufferPointer(start: start, count: count), to: "state/state.sqlite")
  if let store = try? Store(in: directory.parent.appendingPathComponent("state").path) {
    use(store)
  }
  return 0
}
