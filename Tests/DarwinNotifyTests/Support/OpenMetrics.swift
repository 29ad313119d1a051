// Reads metrics as a program that collects them does.

/// The parser for OpenMetrics of the Prometheus client.
enum OpenMetrics {
  struct Sample: Decodable {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  static let isNeeded = ConditionTrait.enabled(
    "python3-prometheus-client is not installed",
    { try await python("import prometheus_client").status == 0 })

  /// The samples of what a program has printed.
  static func samples(of outcome: Outcome) async throws -> [Sample] {
    try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    let parsed = try await python(script, outcome.output)
    try #require(parsed.status == 0, "\(parsed) \(outcome)")
    return try JSONDecoder().decode([Sample].self, from: Data(parsed.output.utf8))
  }

  private static func python(_ script: String, _ arguments: String...) async throws -> Outcome {
    try await Program.run("/usr/bin/python3", ["-c", script] + arguments, on: nil)
  }

  private static let script = """
    import json, sys
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
    print(json.dumps([{"name": sample.name, "labels": sample.labels, "value": sample.value}
                      for family in parse(sys.argv[1]) for sample in family.samples]))
    """
}
