// Describes a post that was seen.

/// A post, as it went over a bus, or posts of a name that the table of the user has counted.
///
/// The corresponding C type is `dn_post_record`.
public struct PostRecord: Hashable, Sendable {
  /// When it arrived: microseconds since 1970 UTC. The corresponding C field is `time_us`.
  public let microseconds: UInt64

  /// The center that it was posted to: `darwin`. The corresponding C field is `center`.
  public let center: String

  /// The name that was posted. The corresponding C field is `name`.
  public let name: NotificationName

  /// What the bus calls the connection of the sender, such as `:1.42`; empty if it was seen in the
  /// table, which does not say who posted. The corresponding C field is `sender`.
  public let sender: String

  /// The process of the sender; `nil` if it was gone before it could be asked for. The
  /// corresponding C field is `pid`.
  public let processIdentifier: Int64?

  /// The file name of the sender's executable, if it is known. The corresponding C field is
  /// `program`.
  public let program: String?

  /// What the sender's table counted; `nil` if it did not count. The corresponding C field is
  /// `generation`.
  public let generation: UInt64?

  /// The table that counted it, if one did. The corresponding C field is `region`.
  public let region: UInt64?

  /// How many posts the record stands for: one, or more if it was seen in the table. The
  /// corresponding C field is `n_posts`.
  public let coalesced: Int
}
