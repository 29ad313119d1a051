// Repairs the defaults of a group.

internal import DarwinNotify

extension AppGroup {
  /// Removes all values of the defaults, also if their file is damaged or another program has
  /// written it, and tells those who listen.
  ///
  /// All processes go on with an empty file. What one of them is setting meanwhile may be lost.
  ///
  /// - Throws: ``WormholeError/system(code:path:)``; ``WormholeError/notification(_:)`` if all is
  ///   removed, but those who listen could not be told.
  public func resetDefaults() throws(WormholeError) {
    try SQLiteFile(directory: container.path, name: Self.defaultsFile).remove()
    try center.notify(changeName("defaults"))
  }
}
