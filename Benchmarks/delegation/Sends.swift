// Times a request until it is answered.
import Delegation

private struct Increment: BusRequest {
  typealias Response = Int
  var number: Int
}

private struct Other<Kind>: BusRequest {}

/// Registers a handler for each kind.
private struct Registration: KindVisitor {
  let bus: HandlerBus

  mutating func visit<Kind>(_ kind: Kind.Type) {
    bus.handle(Other<Kind>.self) { _ in }
  }
}

/// Makes a handler that the compiler does not know, as in a bus.
@inline(never) private func makeHandler() -> @Sendable (Increment) async throws -> Int {
  { $0.number + 1 }
}

func measureSends(calls: Int) async {
  let handler = makeHandler()
  let (bus, crowded) = (HandlerBus(), HandlerBus())
  bus.handle(Increment.self, at: ["org.example.endpoint"], perform: handler)
  crowded.handle(Increment.self, at: ["org.example.endpoint"], perform: handler)
  var registration = Registration(bus: crowded)
  visitKinds(manyKinds, &registration)

  func send(_ number: Int, _ bus: HandlerBus) async {
    use(try? await bus.send(Increment(number: number), to: "org.example.endpoint"))
  }
  let medians = await compare(
    "sends", calls: calls,
    [
      (
        "a direct async call",
        { await time($0) { use(try? await handler(Increment(number: $0))) } }
      ),
      ("HandlerBus", { await time($0) { await send($0, bus) } }),
      ("HandlerBus, one of 10,000", { await time($0) { await send($0, crowded) } }),
    ])
  report("sends_over", "HandlerBus", medians[1] - medians[0])
}
