// Specifies that errors can be caught in the usual ways.
import DistributedNotifications

/// Swift 6.3 crashes on a partial `catch` of a typed error beside calls of generic functions that
/// throw, so these also test that the module compiles.
@Suite(.bounded)
struct CatchTests {
  private let tooLong = NotificationName(String(repeating: "n", count: 512))

  private func attempt(_ names: [NotificationName]) throws -> String {
    let center = try DarwinNotificationCenter.isolated()
    do {
      let first = Result { try center.observe(names[0], on: .thread) { _ in } }
      let others = try names.map { try center.observe($0, on: .thread) { _ in } }
      withExtendedLifetime((try first.get(), others)) {}
      try center.post(names[0])
      return "posted"
    } catch DarwinNotifyError.nameTooLong {
      return "too long"
    } catch let error as NotifyError {
      return "\(error)"
    }
  }

  @Test func anErrorIsCaughtByItsName() throws {
    #expect(try attempt(["a"]) == "posted")
    #expect(try attempt([tooLong]) == "too long")
    #expect(try attempt(["a", tooLong]) == "too long")
    #expect(throws: DarwinNotifyError.nameTooLong) {
      try DarwinNotificationCenter.isolated().post(tooLong)
    }
  }

  private func attempt(_ userInfos: [[AnyHashable: Any]]) throws -> String? {
    let center = try DistributedNotificationCenter.isolated()
    do {
      try Result { try center.post(.changed, userInfo: userInfos.first) }.get()
      _ = try userInfos.map { try center.post(.changed, userInfo: $0) }
      return "posted"
    } catch DistributedNotificationError.failed(.tooLarge) {
      return "too large"
    } catch DistributedNotificationError.notAPropertyList {
      return "no property list"
    } catch let error as DistributedNotificationError where error.code == .failed(.notConnected) {
      return error.path ?? "alone"
    }
  }

  @Test func anErrorWithDetailsIsCaughtByItsKind() throws {
    #expect(try attempt([["a": 1]]) == "alone")
    #expect(try attempt([["a": URL(fileURLWithPath: "/")]]) == "no property list")
    #expect(throws: DistributedNotificationError.failed(.invalidArgument)) {
      try attempt([["a": "\0"]])
    }
  }

  private func state(of names: [NotificationName]) throws -> UInt64? {
    do {
      let tokens = try names.map { try NotifyToken($0) }
      return try tokens.map { token in Result { try token.readState() } }.first?.get()
    } catch NotifyError.invalidName {
      return nil
    }
  }

  @Test func anErrorOfATokenIsCaughtByItsName() throws {
    #expect(try state(of: ["self.example.catch"]) == 0)
    #expect(try state(of: [tooLong]) == nil)
  }

  @Test func sequencesAreReadInTasksThatThrow() async throws {
    let center = try DarwinNotificationCenter.isolated()
    let task = Task {
      do {
        for await event in try center.notifications(named: tooLong) { return event.coalesced }
      } catch DarwinNotifyError.notConnected {
        return 0
      }
      return -1
    }
    await #expect(throws: DarwinNotifyError.nameTooLong) { try await task.value }
  }
}
