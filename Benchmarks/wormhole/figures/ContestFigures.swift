// Sums up a contest.

/// What came of a contest, in its unit. The first row is the measure of the others.
struct ContestFigures: Encodable {
  struct Row: Encodable {
    let title: String
    let isOurs: Bool
    let median: Double

    /// Of the times; where the unit is a rate, the rate of that time.
    let p99: Double

    /// To the first row.
    let ratio: Double

    /// What the ratio is to be at most, or at least.
    let limit: Double?
    let holds: Bool?
  }

  let unit: String
  let isMoreBetter: Bool
  let rows: [Row]
}
