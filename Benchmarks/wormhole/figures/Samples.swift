// Sums up what was measured.

/// Numbers, in the order of their size.
struct Samples {
  private let sorted: [Double]

  init(_ samples: [Double]) {
    sorted = samples.sorted()
  }

  var median: Double { quantile(0.5) }

  /// The number that a share of all do not exceed.
  func quantile(_ share: Double) -> Double {
    sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }
}
