// Specifies what is said when a process has no descriptor left.
@testable import Wormhole

@Suite(.bounded)
struct ShortageTests {
  /// All descriptors that a process may have. They are free again when this object goes.
  private final class Descriptors {
    private var taken: [CInt] = []

    init() throws {
      var limit = rlimit(rlim_cur: 256, rlim_max: 256)
      try #require(setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
      while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 { taken.append(descriptor) }
      try #require(errno == EMFILE)
    }

    deinit { for descriptor in taken { close(descriptor) } }
  }

  @Test func withoutADescriptorEveryErrorSaysWhy() async {
    // In its own process: other tests need descriptors.
    await #expect(processExitsWith: .success) {
      let (site, other) = (try Site(), try Store())
      let group = site.temporary.group
      try await site.hole.pass(1, to: .number)
      _ = try site.store.openCursor("first", of: "name")
      let descriptors = try Descriptors()
      let opened = expect(.system) {
        try AppGroup(
          "other", in: URL(fileURLWithPath: site.temporary.parent), center: group.center)
      }
      #expect(opened?.number == EMFILE)
      let cursor = expect(.system) { try site.store.openCursor("second", of: "name") }
      #expect(cursor?.number == EMFILE)
      #expect(expect(.system) { try AppGroup.temporary() }?.number == EMFILE)
      #expect(throws: WormholeError.notification) { try other.database.values { _ in 1 } }
      withExtendedLifetime(descriptors) {}
    }
  }
}
