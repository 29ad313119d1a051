// Changes files unbeknownst to their users, and expects errors.
import Wormhole

/// Expects an error of a kind, and returns it with its details.
@discardableResult
func expect<Value>(
  _ kind: WormholeError, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Value
) -> WormholeError? {
  let error = #expect(throws: WormholeError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error.map { kind ~= $0 } == true, "\(error as Any)", sourceLocation: sourceLocation)
  return error
}

/// Rewrites a file as a new file, so that processes that have mapped it see no change.
func edit(_ path: String, _ body: (inout Data) -> Void) throws {
  var data = try Data(contentsOf: URL(fileURLWithPath: path))
  body(&data)
  unlink(path)
  try data.write(to: URL(fileURLWithPath: path))
}
