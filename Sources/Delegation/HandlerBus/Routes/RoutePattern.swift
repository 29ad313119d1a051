// Describes the URLs of a route.

/// The set of URLs that a route matches.
///
/// | pattern | matches |
/// |---|---|
/// | `lights://room/kitchen` | only this URL |
/// | `lights://room/:id` | every room; `:id` is one part of the path or the host |
/// | `https://example.com/shop/*` | `/shop` and everything below it, but not `/shopping` |
///
/// Schemes and hosts are compared ignoring case, and ports only if they are not the default. Paths
/// are compared part by part, decoded, with `.` and `..` resolved; a trailing slash makes no
/// difference. Query and fragment are ignored.
public struct RoutePattern: Hashable, Sendable {
  enum Part: Hashable {
    case literal(String)
    case parameter(String)
    case rest
  }

  /// The pattern as it was written.
  public let text: String

  /// Scheme, host and path.
  let parts: [Part]

  /// Creates a pattern.
  ///
  /// - Parameter text: the pattern.
  /// - Throws: ``RoutePatternError`` if it is malformed.
  public init(_ text: String) throws(RoutePatternError) {
    guard let address = RouteAddress(text, isPattern: true) else {
      throw RoutePatternError(pattern: text, reason: "it is not a URL")
    }
    self.text = text
    let parts = address.parts.map { part -> Part in
      if part == "*" { return .rest }
      return part.hasPrefix(":") ? .parameter(String(part.dropFirst())) : .literal(part)
    }
    guard case .literal = parts[0] else {
      throw RoutePatternError(pattern: text, reason: "its scheme must be literal")
    }
    guard !parts.dropLast().contains(.rest) else {
      throw RoutePatternError(pattern: text, reason: "only its last part can be *")
    }
    let names = parts.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    guard !names.contains(""), Set(names).count == names.count else {
      throw RoutePatternError(pattern: text, reason: "each parameter needs a unique name")
    }
    self.parts = parts
  }
}

extension RoutePattern: ExpressibleByStringLiteral {
  /// Creates a pattern from a literal, which must be well-formed.
  public init(stringLiteral value: String) {
    do {
      try self.init(value)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// An error in a pattern.
public struct RoutePatternError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The pattern.
  public let pattern: String

  /// The mistake in it.
  public let reason: String

  /// A description of the error.
  public var description: String { "the route \(pattern) is malformed: \(reason)" }
}
