// Times calls through delegates, handlers and contracts, in ns: prints lines of JSON, see
// ../README.md.

@main enum Delegation {
  static func main() async {
    let amount =
      switch CommandLine.arguments.dropFirst().first {
      case "smoke": 20
      case "quick": 20_000
      default: 100_000
      }
    await Task.detached {
      await measureEvents(calls: amount)
      await measureSends(calls: amount)
      await measureContracts(calls: amount)
    }.value
  }
}
