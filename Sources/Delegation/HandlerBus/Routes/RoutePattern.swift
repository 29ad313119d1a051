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
  public init(_ text: String) throws {
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

  /// How specific each part is: where the patterns of two routes differ first, the lower rank
  /// decides which of them gets a URL that both match.
  var ranks: [Int] {
    parts.map { part in
      switch part {
      case .literal: 0
      case .parameter: 1
      case .rest: 2
      }
    }
  }

  /// The parameters, and what `*` stands for, if the pattern matches the parts of an address.
  func match(_ address: [String]) -> (parameters: [String: String], rest: [String])? {
    var parameters: [String: String] = [:]
    for (index, part) in parts.enumerated() {
      if part == .rest { return (parameters, Array(address[index...])) }
      guard index < address.count else { return nil }
      switch part {
      case .parameter(let name) where !address[index].isEmpty: parameters[name] = address[index]
      case .literal(address[index]): break
      default: return nil
      }
    }
    return parts.count == address.count ? (parameters, []) : nil
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
