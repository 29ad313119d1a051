// Specifies what is said when a process has no descriptor left.
@testable import Wormhole

@Suite(.bounded)
struct ShortageTests {
  /// The lowest descriptors. Nobody else closes one, so there is none when the limit is this count.
  private static let count: CInt = 64

  @Test func withoutADescriptorEveryErrorSaysWhy() async {
    // In its own process: other tests need descriptors.
    await #expect(processExitsWith: .success) {
      while case let taken = dup(STDERR_FILENO), taken < Self.count { try #require(taken >= 0) }
      let (site, other) = (try Site(), try Store())
      let group = site.temporary.group
      try await site.hole.pass(1, to: .number)
      _ = try site.store.openCursor("first", of: "name")
      var limit = rlimit(rlim_cur: rlim_t(Self.count), rlim_max: rlim_t(Self.count))
      try #require(setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let opened = expect(.system) {
        try AppGroup(
          "other", in: URL(fileURLWithPath: site.temporary.parent), center: group.center)
      }
      #expect(opened?.number == EMFILE)
      let cursor = expect(.system) { try site.store.openCursor("second", of: "name") }
      #expect(cursor?.number == EMFILE)
      #expect(expect(.system) { try AppGroup.temporary() }?.number == EMFILE)
      #expect(throws: WormholeError.notification) { try other.database.values { _ in 1 } }
    }
  }
}
