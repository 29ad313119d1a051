// Re-exports the public types of the module below Delegation.

// An alias would hide the cases of `Delivery` from files that import only this module.
@_exported public import DarwinNotifySupport
