// Lets several ways to do the same take turns.

import WormholeBaseline

/// What the ratio to the first contender is to be.
enum Target {
  case atMost(Double)
  case atLeast(Double)

  var limit: Double {
    switch self {
    case .atMost(let limit), .atLeast(let limit): limit
    }
  }

  var text: String {
    switch self {
    case .atMost: "<= \(limit)"
    case .atLeast: ">= \(limit)"
    }
  }

  func isMet(by ratio: Double) -> Bool {
    switch self {
    case .atMost(let limit): ratio <= limit
    case .atLeast(let limit): ratio >= limit
    }
  }
}

/// A way to do it.
struct Contender {
  let title: String

  /// Whether it is a way of the library, not one by hand.
  let isOurs: Bool
  var target: Target?

  /// Does it a number of times. Returns the nanoseconds of one time, measured once or more.
  let run: (_ count: Int) throws -> [Double]
}

/// The contenders, of whom the first is the measure of the others.
///
/// They take turns, so that a machine that changes its pace does so for all.
struct Contest {
  /// How a figure is told.
  enum Unit {
    case microseconds, milliseconds, perSecond

    var symbol: String {
      switch self {
      case .microseconds: "us"
      case .milliseconds: "ms"
      case .perSecond: "/s"
      }
    }

    func number(_ nanoseconds: Double) -> Double {
      switch self {
      case .microseconds: nanoseconds / 1e3
      case .milliseconds: nanoseconds / 1e6
      case .perSecond: 1e9 / nanoseconds
      }
    }

    func text(_ nanoseconds: Double) -> String {
      let digits = if case .perSecond = self { 0 } else { 1 }
      return Table.number(number(nanoseconds), digits: digits) + " \(symbol)"
    }

    /// The ratio of a figure to another: of the times, or of their inverses.
    func ratio(_ nanoseconds: Double, to other: Double) -> Double {
      switch self {
      case .microseconds, .milliseconds: nanoseconds / other
      case .perSecond: other / nanoseconds
      }
    }
  }

  let title: String
  let unit: Unit
  let contenders: [Contender]

  /// Shows a row for each contender.
  func show(on output: Output, turns: Int, patience: Double, count: Int) throws {
    let turns = try measure(turns: turns, patience: patience, count: count)
    let all = contenders.indices.map { index in Samples(turns.flatMap { $0[index] }) }
    var table = Table(columns: [title, "median", "99 %", "ratio", "half of all turns", "target"])
    var rows: [ContestFigures.Row] = []
    for (index, contender) in contenders.enumerated() {
      let ratio = unit.ratio(all[index].median, to: all[0].median)
      let ratios = Samples(
        turns.map { unit.ratio(Samples($0[index]).median, to: Samples($0[0]).median) })
      let spread = [0.25, 0.75].map { Table.number(ratios.quantile($0), digits: 2) }
      let target = contender.target.map {
        "\($0.text) \($0.isMet(by: ratio) ? "met" : "MISSED")"
      }
      table.add([
        contender.title, unit.text(all[index].median), unit.text(all[index].quantile(0.99)),
        Table.number(ratio, digits: 2), index == 0 ? "" : spread.joined(separator: " to "),
        target ?? "",
      ])
      rows.append(
        ContestFigures.Row(
          title: contender.title, isOurs: contender.isOurs, median: unit.number(all[index].median),
          p99: unit.number(all[index].quantile(0.99)), ratio: ratio,
          limit: contender.target?.limit, holds: contender.target?.isMet(by: ratio)))
    }
    let isMoreBetter = if case .perSecond = unit { true } else { false }
    try output.show(
      table, of: ContestFigures(unit: unit.symbol, isMoreBetter: isMoreBetter, rows: rows))
  }

  /// Returns what each contender took in each turn.
  private func measure(turns: Int, patience: Double, count: Int) throws -> [[[Double]]] {
    // What is made once is there afterwards.
    for contender in contenders { _ = try contender.run(min(count, 10)) }
    let end = baseline_now_ns() + UInt64(patience * 1e9)
    var all: [[[Double]]] = []
    while all.count < turns || all.count < 4 * turns && baseline_now_ns() < end {
      var samples = [[Double]](repeating: [], count: contenders.count)
      for offset in contenders.indices {
        let index = (all.count + offset) % contenders.count
        samples[index] = try contenders[index].run(count)
      }
      all.append(samples)
    }
    return all
  }
}
