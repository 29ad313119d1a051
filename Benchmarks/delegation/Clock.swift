// Times calls that take turns.

/// How often the contenders take turns: if the machine changes speed, it does so for all, and other
/// programs interrupt few of the turns.
private let turns = 200

/// Times one turn of something. Returns nanoseconds a call.
func time(_ calls: Int, _ body: (Int) -> Void) -> Double {
  let start = ContinuousClock.now
  for number in 0..<calls { body(number) }
  return (ContinuousClock.now - start) / .nanoseconds(1) / Double(calls)
}

/// Times one turn of something asynchronous. Returns nanoseconds a call.
func time(_ calls: Int, _ body: (Int) async -> Void) async -> Double {
  let start = ContinuousClock.now
  for number in 0..<calls { await body(number) }
  return (ContinuousClock.now - start) / .nanoseconds(1) / Double(calls)
}

/// Runs the contenders in turns, and prints the median of each.
func compare(
  _ figure: String, calls: Int, _ contenders: [(name: String, turn: (Int) async -> Double)]
) async -> [Double] {
  var samples = [[Double]](repeating: [], count: contenders.count)
  for _ in 0..<turns {
    for (index, contender) in contenders.enumerated() {
      samples[index].append(await contender.turn(max(1, calls / turns)))
    }
  }
  let medians = samples.map { $0.sorted()[turns / 2] }
  for (contender, median) in zip(contenders, medians) {
    report(figure, contender.name, median)
  }
  return medians
}

/// Keeps the compiler from optimizing away an unused value.
@inline(never) func use<Value>(_ value: Value) {}

func report(_ figure: String, _ contender: String, _ value: Double) {
  print("{\"figure\": \"\(figure)\", \"contender\": \"\(contender)\", \"value\": \(value)}")
}
