// Requests that can leave the process.

public import Delegation

/// A request that a handler in another process can answer.
///
///     struct Search: RemoteRequest {
///       static let kind = "org.example.Player.Search"
///       typealias Response = [Int]
///       var text: String
///     }
///
/// Its `BusRequest.kind` is a D-Bus interface and the name of a method: at least three
/// words of letters, digits and underscores, with dots between them, at most 255 bytes. Its
/// properties travel by name, so fields can be added. Handlers are registered as for every other
/// request.
///
/// A request that declares a `BusRequest.Failure` lets its handlers throw such errors to the
/// caller, wherever the handler is:
///
///     struct Play: RemoteRequest {
///       static let kind = "org.example.Player.Play"
///       enum Failure: Error, Codable { case noSuchTrack(Int) }
///       var number: Int
///     }
///
///     do {
///       try await bus.send(Play(number: 9), to: player)
///     } catch Play.Failure.noSuchTrack(let number) { … }
///
/// For any other error, the caller gets its text, as ``RemoteError/failed``.
public protocol RemoteRequest: BusRequest, Codable where Response: Codable, Failure: Codable {}

extension RemoteRequest {
  // The compiler takes the default from here, whichever protocol it considers first; the default
  // of an associated type that is declared again would depend on that.
  /// The type of a response that the request does not declare.
  public static var responseType: NoResponse.Type { NoResponse.self }
}

/// Whether a text can be the kind of a request.
func isKind(_ text: String) -> Bool {
  let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  return words.count >= 3 && text.utf8.count <= 255
    && words.allSatisfy { word in
      !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(word.first ?? UInt8(ascii: "0"))
        && word.allSatisfy { isLetter($0) }
    }
}

private func isLetter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
    true
  default: false
  }
}

/// The response of a request that is only confirmed.
public struct NoResponse: Codable, Hashable, Sendable {
  /// Creates the response.
  public init() {}
}
