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

  @Test(
    arguments: [
      ("", .invalidArgument), ("com.example\0.changed", .invalidArgument), ("\0", .invalidArgument),
      (String(repeating: "n", count: 512), .nameTooLong),
    ] as [(String, DarwinNotifyError)])
  func isRefusedWhenEmptyOrTooLongOrWithANul(text: String, error: DarwinNotifyError) throws {
    let center = try DarwinNotificationCenter(bus: .noBus)
    let (name, census) = (NotificationName(text), Census())
    #expect(throws: error) { try center.post(name) }
    #expect(throws: error) { try center.notifications(named: name) }
    if !text.isEmpty { #expect(throws: error) { try center.notifications(withPrefix: text) } }
    for register: (Canary) throws -> Void in [
      { canary in _ = try center.observe(name, on: .main) { _ in canary.sing() } },
      { canary in try center.bind(Listener("a", on: .inline) { _ in canary.sing() }, to: name) },
    ] {
      #expect(throws: error) { try register(census.makeCanary()) }
    }
    #expect(census.deaths == 2)
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
