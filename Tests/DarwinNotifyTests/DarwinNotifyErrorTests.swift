// Specifies errors.
import DarwinNotify
import Glibc
import Testing

@Suite struct DarwinNotifyErrorTests {
  private static let all: [(DarwinNotifyError, Int32)] = [
    (.invalidArgument, EINVAL), (.nameTooLong, ENAMETOOLONG), (.outOfMemory, ENOMEM),
    (.limitReached, ENOBUFS), (.timedOut, ETIMEDOUT), (.notConnected, ENOTCONN),
    (.notAuthorized, EACCES), (.tooLarge, E2BIG),
  ]

  @Test(arguments: all)
  func isAnErrorNumber(error: DarwinNotifyError, number: Int32) {
    #expect(error.rawValue == number)
    #expect(error == DarwinNotifyError(rawValue: number))
  }

  @Test func saysWhatHappened() {
    #expect(Set(Self.all.map { "\($0.0)" }).count == Self.all.count)
    #expect("\(DarwinNotifyError.timedOut)" == "timed out")
    #expect("\(DarwinNotifyError(rawValue: EPERM))" == "error 1")
  }

  @Test func isCaughtByNameAmongOtherErrors() {
    func fail() throws { throw DarwinNotifyError.limitReached }
    do {
      try fail()
    } catch DarwinNotifyError.timedOut {
      Issue.record("caught by the wrong name")
    } catch DarwinNotifyError.limitReached {
      return
    } catch {
      Issue.record("not caught by its name")
    }
  }

  @Test func isTypedWhereItIsThrown() throws {
    let center = try DarwinNotificationCenter(bus: .none)
    do {
      try center.post("")
      Issue.record("an empty name was posted")
    } catch {
      let thrown: DarwinNotifyError = error
      #expect(thrown == .invalidArgument)
    }
  }
}
