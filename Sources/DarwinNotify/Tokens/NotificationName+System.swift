// Names what Apple's systems post. Nothing posts it on Linux by itself.

internal import CDarwinNotify

extension NotificationName {
  /// All caches of the directory service are to be dropped: `kNotifyDSCacheInvalidation`.
  public static let directoryServiceCacheInvalidation = Self(kNotifyDSCacheInvalidation)

  /// The cache of groups is to be dropped: `kNotifyDSCacheInvalidationGroup`.
  public static let directoryServiceGroupCacheInvalidation = Self(kNotifyDSCacheInvalidationGroup)

  /// The cache of hosts is to be dropped: `kNotifyDSCacheInvalidationHost`.
  public static let directoryServiceHostCacheInvalidation = Self(kNotifyDSCacheInvalidationHost)

  /// The cache of services is to be dropped: `kNotifyDSCacheInvalidationService`.
  public static let directoryServiceServiceCacheInvalidation = Self(
    kNotifyDSCacheInvalidationService)

  /// The cache of users is to be dropped: `kNotifyDSCacheInvalidationUser`.
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

  /// Another file system than the root is nearly full: `kNotifyVFSLowDiskSpaceOtherFS`.
  public static let lowDiskSpaceOnOtherFileSystem = Self(kNotifyVFSLowDiskSpaceOtherFS)

  /// The name of the host has changed: `kNotifySCHostNameChange`.
  public static let hostNameChange = Self(kNotifySCHostNameChange)

  /// The configuration of the network has changed: `kNotifySCNetworkChange`.
  public static let networkChange = Self(kNotifySCNetworkChange)

  /// There are new messages in the log: `kNotifyASLDBUpdate`.
  public static let logUpdate = Self(kNotifyASLDBUpdate)

  /// The time zone was set: `kNotifyTimeZoneChange`.
  public static let timeZoneChange = Self(kNotifyTimeZoneChange)

  /// The clock was set: `kNotifyClockSet`.
  public static let clockSet = Self(kNotifyClockSet)
}
