// Describes a name that is in use.

/// A name that processes of this user have registrations for.
///
/// The corresponding C type is `dn_name_record`.
public struct NameRecord: Hashable, Sendable {
  /// The name. The corresponding C field is `name`.
  public let name: NotificationName

  /// Counts the posts; it begins anywhere. The corresponding C field is `generation`.
  public let generation: UInt64

  /// What ``NotifyToken/state`` reads. The corresponding C field is `state`.
  public let state: UInt64

  /// The processes with a registration, one or more, as they see themselves; `nil` stands for one
  /// whose identifier is not known. The corresponding C fields are `n_holders`, `pids`.
  public let holders: [Int32?]
}
