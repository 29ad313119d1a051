// Specifies the names of Apple's systems.
import DarwinNotify
import Testing

@Suite struct NotificationNameSystemTests {
  @Test func namesAreThoseOfTheHeader() {
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
