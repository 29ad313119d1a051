// What a player and its remote controls say to each other.

public import RemoteHandlers

/// A piece of music.
public struct Track: Codable, Hashable, Sendable {
  /// Its number in the list, from 1.
  public var number: Int

  /// What it is called.
  public var title: String

  /// Creates a piece of music.
  public init(number: Int, title: String) {
    self.number = number
    self.title = title
  }
}

/// Finds the tracks whose title contains a text.
public struct Search: RemoteRequest {
  /// Interface and member.
  public static let kind = "org.example.Player.Search"

  /// What was found.
  public typealias Response = [Track]

  /// The text.
  public var text: String

  /// Creates a request.
  public init(text: String) {
    self.text = text
  }
}

/// Plays a track to its end, or until the request is cancelled.
public struct Play: RemoteRequest {
  /// Interface and member.
  public static let kind = "org.example.Player.Play"

  /// The title.
  public typealias Response = String

  /// Why it is not played.
  public typealias Failure = PlayError

  /// The number of the track.
  public var number: Int

  /// How long it takes.
  public var seconds: Double?

  /// Creates a request.
  public init(number: Int, seconds: Double? = nil) {
    self.number = number
    self.seconds = seconds
  }
}

/// Why a track is not played.
public enum PlayError: Error, Codable, Hashable {
  /// The player has only so many tracks.
  case noSuchTrack(number: Int, count: Int)
}

/// The name of the player on the bus.
public let playerName = "org.example.Player"
