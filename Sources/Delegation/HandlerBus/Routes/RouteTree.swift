// Finds the routes that match an address.

/// A route of a handler set.
final class Route: Sendable {
  let pattern: RoutePattern
  let priority: Int
  let origin: String
  let body: @Sendable (RouteMatch) async -> Bool

  init(
    _ pattern: RoutePattern, priority: Int, origin: String,
    _ body: @escaping @Sendable (RouteMatch) async -> Bool
  ) {
    self.pattern = pattern
    self.priority = priority
    self.origin = origin
    self.body = body
  }
}

/// Routes by the parts of their patterns, so that the time to find one does not depend on their
/// number.
struct RouteTree {
  /// A route that matches an address.
  struct Finding {
    let route: Route
    let parameters: [String: String]
    /// The parts that the pattern's `*` matched.
    let rest: [String]
  }

  /// The routes whose patterns begin with the same parts.
  private struct Node {
    var literals: [String: Node] = [:]
    /// None or one.
    var parameter: [Node] = []
    var here: [Route] = []
    var below: [Route] = []

    var isEmpty: Bool {
      literals.isEmpty && parameter.isEmpty && here.isEmpty && below.isEmpty
    }
  }

  private var root = Node()

  mutating func insert(_ route: Route) {
    Self.change(&root, route.pattern.parts[...]) { routes in
      let index = routes.firstIndex { $0.priority < route.priority } ?? routes.endIndex
      routes.insert(route, at: index)
    }
  }

  mutating func remove(_ route: Route) {
    Self.change(&root, route.pattern.parts[...]) { routes in routes.removeAll { $0 === route } }
  }

  /// The routes that match an address. At the first part where two differ, a literal part comes
  /// before a parameter, and a parameter before `*`. Between equals priority decides, then the
  /// order of registration.
  func find(_ address: RouteAddress) -> [Finding] {
    var findings: [Finding] = []
    Self.find(address.parts[...], below: root, [], &findings)
    return findings
  }

  private static func change(
    _ node: inout Node, _ parts: ArraySlice<RoutePattern.Part>, _ body: (inout [Route]) -> Void
  ) {
    switch parts.first {
    case nil:
      body(&node.here)
    case .rest:
      body(&node.below)
    case .literal(let text):
      change(&node.literals[text, default: Node()], parts.dropFirst(), body)
      if node.literals[text]?.isEmpty == true { node.literals[text] = nil }
    case .parameter:
      if node.parameter.isEmpty { node.parameter = [Node()] }
      change(&node.parameter[0], parts.dropFirst(), body)
      if node.parameter[0].isEmpty { node.parameter = [] }
    }
  }

  private static func find(
    _ parts: ArraySlice<String>, below node: Node, _ values: [String],
    _ findings: inout [Finding]
  ) {
    if let part = parts.first {
      if let next = node.literals[part] {
        find(parts.dropFirst(), below: next, values, &findings)
      }
      if let next = node.parameter.first, !part.isEmpty {
        find(parts.dropFirst(), below: next, values + [part], &findings)
      }
    } else {
      findings += node.here.map { Finding($0, values, []) }
    }
    findings += node.below.map { Finding($0, values, Array(parts)) }
  }
}

extension RouteTree.Finding {
  fileprivate init(_ route: Route, _ values: [String], _ rest: [String]) {
    let names = route.pattern.parts.compactMap {
      if case .parameter(let name) = $0 { name } else { nil }
    }
    self.init(
      route: route, parameters: Dictionary(uniqueKeysWithValues: zip(names, values)), rest: rest)
  }
}
