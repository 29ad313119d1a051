// What an observer of the distributed center receives.

internal import CDarwinNotify

/// One delivery of a distributed notification. The corresponding C type is `dn_event`.
package struct DistributedEvent: Sendable {
  package let name: String
  package let object: String?
  package let userInfo: PropertyList?
  /// How many posts it stands for, 1 or more.
  package let coalesced: Int
  /// How many posts before it are missing.
  package let dropped: Int

  /// Copies an event that C lends.
  init(_ event: dn_event) {
    name = String(cString: event.name)
    object = event.object.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    userInfo = PropertyList(retaining: event.user_info)
    coalesced = Int(clamping: event.n_posts)
    dropped = Int(clamping: event.n_dropped)
  }
}
