// Changes files unbeknownst to their users.
import Foundation

/// Rewrites a file as a new file, so that processes that have mapped it see no change.
func edit(_ path: String, _ body: (inout Data) -> Void) throws {
  var data = try Data(contentsOf: URL(fileURLWithPath: path))
  body(&data)
  unlink(path)
  try data.write(to: URL(fileURLWithPath: path))
}
