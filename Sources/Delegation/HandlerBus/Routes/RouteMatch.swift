// Tells a route what it was found by.

public import FoundationEssentials

/// A URL on its way to a route, taken apart.
public struct RouteMatch: Sendable {
  /// The URL.
  public let url: URL

  /// What stands in the URL for the parameters of the pattern, decoded.
  public let parameters: [String: String]

  /// What stands in the URL for the `*` of the pattern: the remaining parts of the path, decoded.
  public let rest: [String]

  /// The query, decoded. Of a name that occurs more than once, the first value counts.
  public let query: [String: String]

  /// The activity that the URL came with, if any.
  public let activity: UserActivity?

  init(_ finding: RouteTree.Finding, _ url: URL, _ address: RouteAddress, _ activity: UserActivity?)
  {
    self.url = url
    parameters = finding.parameters
    rest = finding.rest
    query = Dictionary(
      address.query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    self.activity = activity
  }
}

/// Something that a user does, and goes on with in this program, such as looking at a web page.
public struct UserActivity: Sendable, Equatable {
  /// The type of an activity that is a visit of a web page.
  public static let browsingWeb = "NSUserActivityTypeBrowsingWeb"

  /// The type of the activity, in reverse domain order.
  public var type: String

  /// The page, for one that has one.
  public var webpageURL: URL?

  /// What a user would call it.
  public var title: String?

  /// What is needed to go on with it.
  public var userInfo: [String: String]

  /// Describes an activity.
  ///
  /// - Parameters:
  ///   - type: the type of the activity.
  ///   - webpageURL: the page, for one that has one.
  ///   - title: what a user would call it.
  ///   - userInfo: what is needed to go on with it.
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
