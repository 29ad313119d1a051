// Requests for the tests.

extension BusEndpoint {
  enum Chat {
    static let friend: BusEndpoint = "org.example.chat.friend"
    static let timeline: BusEndpoint = "org.example.chat.timeline"
  }
}

extension BusPlatform {
  static let chat: BusPlatform = "org.example.chat"
}

struct ShareText: BusRequest {
  typealias Response = String
  static let kind = "share.text"
  var text: String
  var token = ""
}

struct SignIn: BusRequest {
  typealias Response = Int
  typealias Destination = BusPlatform
}

/// A request without a response value.
struct Launch: BusRequest {}

/// A request whose handlers throw errors for the caller.
struct Attach: BusRequest {
  enum Failure: Error, Equatable { case tooLarge(limit: Int) }
}

struct SharingError: Error, Equatable {
  var reason: String
}

extension BusError {
  /// The error of the handler.
  var sharingError: SharingError? {
    underlying as? SharingError
  }
}

extension BusError? {
  /// Whether there is an error of a kind.
  func `is`(_ kind: BusError) -> Bool { map { kind ~= $0 } ?? false }
}
