// Formats metrics in the text format of OpenMetrics 1.0.

/// One metric. A family without samples is also printed: it is known, but empty.
package struct MetricFamily {
  /// What its values mean.
  package enum Kind: String {
    case counter
    case gauge
    /// Labels that describe the program, with the value 1.
    case info
  }

  /// A value with its labels.
  package struct Sample {
    fileprivate let labels: [(String, String)]
    fileprivate let value: String

    package init(_ labels: [(String, String)], _ value: some BinaryInteger) {
      self.labels = labels
      self.value = "\(value)"
    }
  }

  private let name: String
  private let kind: Kind
  private let help: String
  private let samples: [Sample]

  package init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
  }

  /// The complete text of several families.
  package static func text(of families: [Self]) -> String {
    (families.flatMap(\.lines) + ["# EOF"]).joined(separator: "\n")
  }

  private var lines: [String] {
    let suffix = [.counter: "_total", .info: "_info"][kind, default: ""]
    return ["# TYPE \(name) \(kind.rawValue)", "# HELP \(name) \(help)"]
      + samples.map { sample in
        let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }
        let list = labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}"
        return "\(name)\(suffix)\(list) \(sample.value)"
      }
  }

  /// The format has three escapes.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", "\"": result += "\\\(scalar)"
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
