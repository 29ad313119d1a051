// Gives whoever imports DistributedNotifications the public types of the module below it.

// `Delivery` and `NotificationObservation` belong to its functions.
@_exported public import DarwinNotify
