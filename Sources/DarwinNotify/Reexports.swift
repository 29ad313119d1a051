// Re-exports the public types of the module below DarwinNotify.

// Modules that need no bus use `Delivery`, too. The attribute is underscored, but there is no
// alternative: an alias would hide the enumeration's cases from files that import only this module.
@_exported public import DarwinNotifySupport
