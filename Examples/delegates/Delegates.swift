// Shows the three ways to decide elsewhere who answers a call. It needs no bus.

@main enum Delegates {
  static func main() async throws {
    try await showPlayer()
    try await showSharing()
    try await showHTTP()
  }
}
