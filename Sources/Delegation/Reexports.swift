// Gives who imports Delegation the public types of the module below it.

// An alias would hide the cases of `Delivery` from files that import this module alone.
@_exported public import DarwinNotifySupport
