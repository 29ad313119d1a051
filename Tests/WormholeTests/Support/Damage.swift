// Changes files behind the back of those who use them.
import Foundation

/// Writes a file again, as another file, so that who has mapped it sees no change.
func edit(_ path: String, _ body: (inout Data) -> Void) throws {
  var data = try Data(contentsOf: URL(fileURLWithPath: path))
  body(&data)
  unlink(path)
  try data.write(to: URL(fileURLWithPath: path))
}
