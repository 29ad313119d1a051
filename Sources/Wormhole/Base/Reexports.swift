// Gives whoever imports Wormhole the public types of the modules below it.

// `Listener`, `Delivery` and `DarwinNotificationCenter` belong to almost every use.
@_exported public import DarwinNotify
