// Describes a set of URLs.

/// A set of URLs that a route leads to.
///
/// | pattern | leads to |
/// |---|---|
/// | `lights://room/kitchen` | this URL alone |
/// | `lights://room/:id` | every room; `:id` is one part of the path or the host |
/// | `https://example.com/shop/*` | `/shop` and everything below it, but not `/shopping` |
///
/// Schemes and hosts are compared without case, and a port only if it is not the usual one. Paths
/// are compared part by part, decoded, with `.` and `..` resolved; a slash at the end changes
/// nothing. Query and fragment do not matter.
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

  /// Makes a pattern.
  ///
  /// - Parameter text: the pattern.
  /// - Throws: ``RoutePatternError`` for one that is malformed.
  public init(_ text: String) throws(RoutePatternError) {
    guard let address = RouteAddress(text, isPattern: true) else {
      throw RoutePatternError(pattern: text, reason: "it is no URL")
    }
    self.text = text
    let parts = address.parts.map { part -> Part in
      if part == "*" { return .rest }
      return part.hasPrefix(":") ? .parameter(String(part.dropFirst())) : .literal(part)
    }
    guard case .literal = parts[0] else {
      throw RoutePatternError(pattern: text, reason: "its scheme has to be spelled out")
    }
    guard !parts.dropLast().contains(.rest) else {
      throw RoutePatternError(pattern: text, reason: "only its last part can be *")
    }
    let names = parts.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    guard !names.contains(""), Set(names).count == names.count else {
      throw RoutePatternError(pattern: text, reason: "each parameter needs a name of its own")
    }
    self.parts = parts
  }
}

extension RoutePattern: ExpressibleByStringLiteral {
  /// Makes a pattern from a literal, which must be well-formed.
  public init(stringLiteral value: String) {
    do {
      try self.init(value)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// What is wrong with a pattern.
public struct RoutePatternError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The pattern.
  public let pattern: String

  /// What is wrong with it.
  public let reason: String

  /// A sentence for the log.
  public var description: String { "the route \(pattern) is malformed: \(reason)" }
}
