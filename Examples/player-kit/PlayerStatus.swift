// Declares the status that a player posts to other programs.
public import Foundation

/// What a player is doing.
public struct PlayerStatus: Codable, Sendable {
  /// The song; empty if there is none.
  public var title: String
  /// How long the song is.
  public var seconds: Double
  /// Whether it is being played.
  public var isPlaying: Bool

  /// Makes a status.
  public init(title: String, seconds: Double, isPlaying: Bool) {
    self.title = title
    self.seconds = seconds
    self.isPlaying = isPlaying
  }
}

extension Notification.Name {
  /// What players post with their names as objects.
  public static let playerStatus = Notification.Name("org.example.player.status")
}

/// Prints a line at once, also into a pipe.
public func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
