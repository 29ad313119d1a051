// Makes thousands of types.

struct Zero<Rest>: Sendable {}
struct One<Rest>: Sendable {}

/// Does something with a type.
protocol KindVisitor {
  mutating func visit<Kind>(_ kind: Kind.Type)
}

/// Shows a visitor that many types: the numbers up to the amount, in binary.
func visitKinds(_ amount: Int, _ visitor: inout some KindVisitor) {
  var left = amount
  visitKinds(digits: 14, Never.self, &left, &visitor)
}

private func visitKinds<Kind>(
  digits: Int, _ kind: Kind.Type, _ left: inout Int, _ visitor: inout some KindVisitor
) {
  guard left > 0 else { return }
  if digits == 0 {
    left -= 1
    visitor.visit(kind)
  } else {
    visitKinds(digits: digits - 1, Zero<Kind>.self, &left, &visitor)
    visitKinds(digits: digits - 1, One<Kind>.self, &left, &visitor)
  }
}

/// How many others there are when the cost of many is measured.
let manyKinds = 10_000
