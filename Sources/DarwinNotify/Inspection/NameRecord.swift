// Describes a name that is in use.

/// A name that processes of this user have registrations for.
///
/// The corresponding C type is `dn_name_record`.
public struct NameRecord: Hashable, Sendable {
  /// The name. The corresponding C field is `name`.
  public let name: NotificationName

  /// The number of posts, counted from an arbitrary start. The corresponding C field is
  /// `generation`.
  public let generation: UInt64

  /// The value that ``NotifyToken/state`` reads. The corresponding C field is `state`.
  public let state: UInt64

  /// The pids of the one or more processes with a registration, as they see themselves; `nil` if
  /// not known. The corresponding C fields are `n_holders`, `pids`.
  public let holders: [Int32?]
}
