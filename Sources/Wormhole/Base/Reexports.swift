// Re-exports the public types of the modules below Wormhole.

// `Listener`, `Delivery` and `DarwinNotificationCenter` are needed in almost every use.
@_exported public import DarwinNotify
