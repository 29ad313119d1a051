// Describes a post that was seen.

/// A post seen on a bus.
///
/// The corresponding C type is `dn_post_record`.
public struct PostRecord: Hashable, Sendable {
  /// The time of arrival in microseconds since 1970 UTC. The corresponding C field is `time_us`.
  public let microseconds: UInt64

  /// The center that it was posted to: `darwin` or `distributed`. The corresponding C field is
  /// `center`.
  public let center: String

  /// The name that was posted. The corresponding C field is `name`.
  public let name: NotificationName

  /// The bus name of the sender's connection, such as `:1.42`. The corresponding C field is
  /// `sender`.
  public let sender: String

  /// The process of the sender; `nil` if it was gone before it could be determined. The
  /// corresponding C field is `pid`.
  public let processIdentifier: Int64?

  /// The file name of the sender's executable, if it is known. The corresponding C field is
  /// `program`.
  public let program: String?

  /// The number of the post in the sender's table; `nil` if it was not counted. The corresponding C
  /// field is `generation`.
  public let generation: UInt64?

  /// The table that counted it, if one did. The corresponding C field is `region`.
  public let region: UInt64?

  /// The object of a distributed notification. The corresponding C field is `object`.
  public let object: String?

  /// The user info of a distributed notification, as one line of JSON: data as base64, dates as
  /// ISO 8601 in UTC, non-finite numbers as strings. The corresponding C field is `user_info`, the
  /// function `dn_dict_copy_json`.
  public let userInfo: String?

  /// What the sender counted of its distributed notifications of this name; `nil` if it did not
  /// count. The corresponding C field is `number`.
  public let number: UInt64?
}
