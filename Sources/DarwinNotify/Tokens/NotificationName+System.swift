// The names that Apple's systems post. On Linux nothing posts them by itself.

internal import CDarwinNotify

extension NotificationName {
  /// Drop all caches of the directory service: `kNotifyDSCacheInvalidation`.
  public static let directoryServiceCacheInvalidation = Self(kNotifyDSCacheInvalidation)

  /// Drop the cache of groups: `kNotifyDSCacheInvalidationGroup`.
  public static let directoryServiceGroupCacheInvalidation = Self(kNotifyDSCacheInvalidationGroup)

  /// Drop the cache of hosts: `kNotifyDSCacheInvalidationHost`.
  public static let directoryServiceHostCacheInvalidation = Self(kNotifyDSCacheInvalidationHost)

  /// Drop the cache of services: `kNotifyDSCacheInvalidationService`.
  public static let directoryServiceServiceCacheInvalidation = Self(
    kNotifyDSCacheInvalidationService)

  /// Drop the cache of users: `kNotifyDSCacheInvalidationUser`.
  public static let directoryServiceUserCacheInvalidation = Self(kNotifyDSCacheInvalidationUser)

  /// A file system was mounted: `kNotifyVFSMount`.
  public static let fileSystemMount = Self(kNotifyVFSMount)

  /// A file system was unmounted: `kNotifyVFSUnmount`.
  public static let fileSystemUnmount = Self(kNotifyVFSUnmount)

  /// The mount of a file system has changed: `kNotifyVFSUpdate`.
  public static let fileSystemUpdate = Self(kNotifyVFSUpdate)

  /// A file system is nearly full: `kNotifyVFSLowDiskSpace`.
  public static let lowDiskSpace = Self(kNotifyVFSLowDiskSpace)

  /// The root file system is nearly full: `kNotifyVFSLowDiskSpaceRootFS`.
  public static let lowDiskSpaceOnRootFileSystem = Self(kNotifyVFSLowDiskSpaceRootFS)

  /// A file system other than the root is nearly full: `kNotifyVFSLowDiskSpaceOtherFS`.
  public static let lowDiskSpaceOnOtherFileSystem = Self(kNotifyVFSLowDiskSpaceOtherFS)

  /// The host name has changed: `kNotifySCHostNameChange`.
  public static let hostNameChange = Self(kNotifySCHostNameChange)

  /// The network configuration has changed: `kNotifySCNetworkChange`.
  public static let networkChange = Self(kNotifySCNetworkChange)

  /// There are new messages in the log: `kNotifyASLDBUpdate`.
  public static let logUpdate = Self(kNotifyASLDBUpdate)

  /// The time zone was set: `kNotifyTimeZoneChange`.
  public static let timeZoneChange = Self(kNotifyTimeZoneChange)

  /// The clock was set: `kNotifyClockSet`.
  public static let clockSet = Self(kNotifyClockSet)
}
