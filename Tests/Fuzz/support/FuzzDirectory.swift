// Gives a fuzzer a directory whose files the input determines.

public import Foundation

/// A group of a fuzzer, in which every input finds its own files.
public struct FuzzDirectory: Sendable {
  /// The directory of groups.
  public let parent: URL

  /// Creates a directory that nobody else uses.
  public init() {
    parent = FileManager.default.temporaryDirectory
      .appendingPathComponent("fuzz-\(getpid())", isDirectory: true)
    try? FileManager.default.createDirectory(
      at: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    setenv("DARWIN_NOTIFY_BUS", "none", 1)
  }

  /// Writes bytes to a file that only the user can access. Its directory is made if missing.
  public func write(_ bytes: some Sequence<UInt8>, to path: String) {
    let file = parent.appendingPathComponent(path)
    try? FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    guard
      FileManager.default.createFile(
        atPath: file.path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    else { fatalError("cannot write \(file.path)") }
  }

  /// Removes all files of a directory.
  public func empty(_ path: String) {
    let directory = parent.appendingPathComponent(path).path
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      var isDirectory: ObjCBool = false
      let file = "\(directory)/\(name)"
      if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
        !isDirectory.boolValue
      {
        unlink(file)
      }
    }
  }
}
