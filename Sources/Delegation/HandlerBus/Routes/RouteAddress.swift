// Splits URLs for comparison with routes.

internal import DarwinNotifySupport

/// The parts of a URL that routes compare.
struct RouteAddress: Equatable {
  /// The scheme, the host with its port, and the parts of the path.
  let parts: [String]

  /// The names and values of the query, decoded, in their order.
  let query: [(name: String, value: String)]

  static func == (left: Self, right: Self) -> Bool { left.parts == right.parts }

  /// Splits a URL, or a pattern. Returns `nil` if it is malformed.
  init?(_ text: String, isPattern: Bool = false) {
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
    let scheme = text[..<colon].lowercased()
    guard !scheme.utf8.contains(UInt8(ascii: "/")) else { return nil }
    let beforeFragment = text[text.index(after: colon)...].prefix { $0 != "#" }
    var rest = beforeFragment.prefix { $0 != "?" }
    let query = beforeFragment.dropFirst(rest.count + 1)

    var host = ""
    if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
      let authority = rest.prefix { $0 != "/" }
      rest = rest.dropFirst(authority.count)
      // The case of a parameter's name is significant.
      host =
        isPattern && authority.hasPrefix(":")
        ? String(authority) : Self.normalize(authority, of: scheme)
    }
    guard let host = Self.decode(host[...]), let path = Self.resolve(rest),
      let items = Self.items(of: query)
    else { return nil }
    parts = [scheme, host] + path
    self.query = items
  }

  /// Drops the user and the default port, and lowers the case: none of them makes another host.
  private static func normalize(_ authority: Substring, of scheme: String) -> String {
    let host =
      authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
      ?? authority
    let usualPort = ["http": ":80", "https": ":443"][scheme]
    let lower = host.lowercased()
    guard let usualPort, lower.hasSuffix(usualPort) else { return lower }
    return String(lower.dropLast(usualPort.count))
  }

  /// The decoded parts of a path, with `.` and `..` resolved, so that no URL matches a path that it
  /// does not lead to.
  private static func resolve(_ path: Substring) -> [String]? {
    var parts: [String] = []
    for part in path.split(separator: "/") {
      guard let part = decode(part) else { return nil }
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return parts
  }

  private static func items(of query: Substring) -> [(name: String, value: String)]? {
    var items: [(name: String, value: String)] = []
    for item in query.split(separator: "&") {
      let name = item.prefix { $0 != "=" }
      guard let decodedName = decode(name), let value = decode(item.dropFirst(name.count + 1))
      else { return nil }
      items.append((decodedName, value))
    }
    return items
  }

  /// Decodes `%2F` and the like. Returns `nil` if the result is not UTF-8.
  private static func decode(_ text: Substring) -> String? {
    text.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) }
  }
}
