// Specifies the errors of centers and tokens.

@Suite struct DarwinNotifyErrorTests {
  private static let numbers: [(DarwinNotifyError, Int32)] = [
    (.invalidArgument, EINVAL), (.nameTooLong, ENAMETOOLONG), (.outOfMemory, ENOMEM),
    (.limitReached, ENOBUFS), (.timedOut, ETIMEDOUT), (.notConnected, ENOTCONN),
    (.notAuthorized, EACCES), (.tooLarge, E2BIG),
  ]

  @Test(arguments: numbers)
  func isAnErrorNumber(error: DarwinNotifyError, number: Int32) {
    #expect(error.rawValue == number)
    #expect(error == DarwinNotifyError(rawValue: number))
    #expect((error as any Error).localizedDescription == error.description)
  }

  private static let statuses: [(NotifyError, UInt32)] = [
    (.invalidName, 1), (.invalidToken, 2), (.invalidPort, 3), (.invalidFile, 4),
    (.invalidSignal, 5), (.invalidRequest, 6), (.notAuthorized, 7), (.disabled, 8),
    (.serverNotFound, 9), (.nullInput, 10), (.failed, 1_000_000),
  ]

  @Test(arguments: statuses)
  func isAStatus(error: NotifyError, status: UInt32) {
    #expect(error.rawValue == status)
    #expect(error == NotifyError(rawValue: status))
    #expect((error as any Error).localizedDescription == error.description)
  }

  @Test func saysWhatHappened() {
    let texts = Self.numbers.map { "\($0.0)" }
    #expect(Set(texts).count == texts.count && texts[4] == "timed out")
    #expect("\(DarwinNotifyError(rawValue: EPERM))" == "Operation not permitted")
    #expect(Set(Self.statuses.map { "\($0.0)" }).count == Self.statuses.count)
    #expect("\(NotifyError.notAuthorized)" == "not authorized")
    #expect("\(NotifyError(rawValue: 35))" == "status 35")
  }

  @Test func isCaughtByNameAmongOtherErrors() {
    func fail() throws { throw NotifyError.notAuthorized }
    do {
      try fail()
    } catch DarwinNotifyError.notAuthorized {
      Issue.record("caught by the name of another error")
    } catch NotifyError.invalidName {
      Issue.record("caught by the wrong name")
    } catch NotifyError.notAuthorized {
      return
    } catch {
      Issue.record("not caught by its name")
    }
  }
}
