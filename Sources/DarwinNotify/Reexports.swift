// Gives who imports DarwinNotify the public types of the module below it.

// `Delivery` is used by modules that need no bus. The attribute is underscored, but there is no
// other way: an alias would hide the cases of the enumeration from files that import this module
// alone.
@_exported public import DarwinNotifySupport
