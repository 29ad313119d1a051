/* Names that Apple's systems post. On Linux notifyagent(1) posts the mounts, the host name, the
 * network, the time zone and the clock, in the table of its user; nothing posts the others. */
#ifndef DARWINNOTIFY_NOTIFY_KEYS_H
#define DARWINNOTIFY_NOTIFY_KEYS_H

/* The caches of the directory service must be dropped. */
#define kNotifyDSCacheInvalidation "com.apple.system.DirectoryService.InvalidateCache"
#define kNotifyDSCacheInvalidationGroup "com.apple.system.DirectoryService.InvalidateCache.group"
#define kNotifyDSCacheInvalidationHost "com.apple.system.DirectoryService.InvalidateCache.host"
#define kNotifyDSCacheInvalidationService \
        "com.apple.system.DirectoryService.InvalidateCache.service"
#define kNotifyDSCacheInvalidationUser "com.apple.system.DirectoryService.InvalidateCache.user"

/* File systems come, go, change, or are nearly full. */
#define kNotifyVFSMount "com.apple.system.kernel.mount"
#define kNotifyVFSUnmount "com.apple.system.kernel.unmount"
#define kNotifyVFSUpdate "com.apple.system.kernel.mountupdate"
#define kNotifyVFSLowDiskSpace "com.apple.system.lowdiskspace"
#define kNotifyVFSLowDiskSpaceRootFS "com.apple.system.lowdiskspace.system"
#define kNotifyVFSLowDiskSpaceOtherFS "com.apple.system.lowdiskspace.user"

/* The configuration of the system has changed. */
#define kNotifySCHostNameChange "com.apple.system.hostname"
#define kNotifySCNetworkChange "com.apple.system.config.network_change"

/* There are new messages in the log. */
#define kNotifyASLDBUpdate "com.apple.system.logger.message"

/* The clock or its time zone was set. */
#define kNotifyTimeZoneChange "com.apple.system.timezone"
#define kNotifyClockSet "com.apple.system.clock_set"

#endif
