// Describes to a route how its pattern matched.

public import FoundationEssentials

/// A URL that matched a route, split into its parts.
public struct RouteMatch: Sendable {
  /// The URL.
  public let url: URL

  /// The values of the pattern's parameters in the URL, decoded.
  public let parameters: [String: String]

  /// The parts of the path that the `*` of the pattern matched, decoded.
  public let rest: [String]

  /// The query, decoded. If a name occurs more than once, its first value counts.
  public let query: [String: String]

  /// The activity that the URL came with, if any.
  public let activity: UserActivity?

  /// Returns `nil` if the pattern does not match.
  init?(_ pattern: RoutePattern, _ url: URL, _ address: RouteAddress, _ activity: UserActivity?) {
    guard let match = pattern.match(address.parts) else { return nil }
    self.url = url
    (parameters, rest) = match
    query = Dictionary(
      address.query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    self.activity = activity
  }
}

/// Something that a user was doing and continues in this program, such as viewing a web page.
public struct UserActivity: Sendable, Equatable {
  /// The type of an activity that views a web page.
  public static let browsingWeb = "NSUserActivityTypeBrowsingWeb"

  /// The type of the activity, in reverse domain order.
  public var type: String

  /// The web page, if the activity has one.
  public var webpageURL: URL?

  /// The title to show to the user.
  public var title: String?

  /// The data needed to continue it.
  public var userInfo: [String: String]

  /// Creates an activity.
  ///
  /// - Parameters:
  ///   - type: the type of the activity.
  ///   - webpageURL: the web page, if the activity has one.
  ///   - title: the title to show to the user.
  ///   - userInfo: the data needed to continue it.
  public init(
    type: String = Self.browsingWeb, webpageURL: URL? = nil, title: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.type = type
    self.webpageURL = webpageURL
    self.title = title
    self.userInfo = userInfo
  }
}
