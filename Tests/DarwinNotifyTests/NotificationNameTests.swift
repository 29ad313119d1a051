// Specifies names.

@Suite(.bounded)
struct NotificationNameTests {
  private static let composed: NotificationName = "com.example.caf\u{E9}"
  private static let decomposed: NotificationName = "com.example.cafe\u{301}"

  @Test func comparesBytesWhereStringsCompareCharacters() {
    #expect(Self.composed.rawValue == Self.decomposed.rawValue)
    #expect((Self.composed == Self.decomposed) == false)
    #expect(Self.composed != Self.decomposed)
    #expect(Set([Self.composed, Self.decomposed, Self.composed]).count == 2)
    #expect([Self.composed: 1][Self.decomposed] == nil)
  }

  @Test(arguments: ["", "com.example\0.changed", "com.example.changed\0", "\0"])
  func isRefusedWhenEmptyOrWithANul(text: String) throws {
    let center = try DarwinNotificationCenter(bus: .noBus)
    let name = NotificationName(text)
    let census = Census()
    let canary = census.makeCanary()
    #expect(throws: DarwinNotifyError.invalidArgument) { try center.post(name) }
    #expect(throws: DarwinNotifyError.invalidArgument) {
      _ = try center.observe(name, on: .direct) { _ in canary.sing() }
    }
    #expect(throws: DarwinNotifyError.invalidArgument) {
      try center.bind(Listener("a", on: .direct) { _ in canary.sing() }, to: name)
    }
    #expect(throws: DarwinNotifyError.invalidArgument) {
      _ = try center.notifications(named: name)
    }
    center.unbind("a", from: name)
    center.unbindAll(from: name)
  }

  @Test func ofApplesSystemsAreThoseOfTheHeader() {
    #expect(NotificationName.timeZoneChange == "com.apple.system.timezone")
    #expect(NotificationName.clockSet == "com.apple.system.clock_set")
    #expect(NotificationName.networkChange == "com.apple.system.config.network_change")
    let all: [NotificationName] = [
      .directoryServiceCacheInvalidation, .directoryServiceGroupCacheInvalidation,
      .directoryServiceHostCacheInvalidation, .directoryServiceServiceCacheInvalidation,
      .directoryServiceUserCacheInvalidation, .fileSystemMount, .fileSystemUnmount,
      .fileSystemUpdate, .lowDiskSpace, .lowDiskSpaceOnRootFileSystem,
      .lowDiskSpaceOnOtherFileSystem, .hostNameChange, .networkChange, .logUpdate,
      .timeZoneChange, .clockSet,
    ]
    #expect(Set(all).count == 16)
    #expect(all.allSatisfy { $0.rawValue.hasPrefix("com.apple.system.") })
  }
}
