// Exchanges values of Swift types.

public import DarwinNotify
public import Foundation

extension DistributedNotificationCenter {
  /// Posts a value, encoded as the user info: other observers see a dictionary.
  ///
  /// - Parameters:
  ///   - name: the name to post.
  ///   - value: a value that encodes as a dictionary, as a structure with properties does.
  ///   - object: text that observers may filter by. Without one, only observers without a filter
  ///     get the post.
  ///   - options: how to post it.
  /// - Throws: what ``post(_:object:userInfo:options:)`` throws.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post<Value: Encodable & Sendable>(
    _ name: Notification.Name, _ value: Value, object: String? = nil, options: Options = []
  ) throws {
    try post(name, object: object, userInfo: try encode(value), options: options)
  }

  /// Returns the values that are posted with a name as a sequence.
  ///
  /// It is registered when this returns. Any process can post any name: a notification whose user
  /// info is not such a value is left out. To see those as well, iterate over
  /// ``notifications(named:object:suspensionBehavior:)`` and use
  /// ``DistributedNotification/value(as:)``.
  ///
  /// - Parameters:
  ///   - type: the type of the values.
  ///   - name: the name to listen for.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, named name: Notification.Name, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce
  ) throws -> QueuedNotifications<Value> {
    try QueuedNotifications { delivery, handler in
      try self.observe(
        name, object: object, suspensionBehavior: suspensionBehavior, on: delivery
      ) { notification in
        guard let value = try? notification.value(as: Value.self) else { return }
        handler(value)
      }
    }
  }
}

extension DistributedNotification {
  /// Decodes what the notification carries. Without a user info it is decoded from an empty one.
  ///
  /// - Parameter type: the type of the value.
  /// - Returns: the value.
  /// - Throws: a `DecodingError` if the user info is not such a value.
  public func value<Value: Decodable>(as type: Value.Type) throws -> Value {
    let data = try PropertyListSerialization.data(
      fromPropertyList: userInfo ?? [:], format: .binary, options: 0)
    return try PropertyListDecoder().decode(type, from: data)
  }
}

/// Encodes a value as a user info.
private func encode<Value: Encodable>(
  _ value: Value
) throws(DistributedNotificationError) -> [AnyHashable: Any] {
  let encoder = PropertyListEncoder()
  encoder.outputFormat = .binary
  do {
    let data = try encoder.encode(value)
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    if let userInfo = list as? [AnyHashable: Any] { return userInfo }
  } catch let EncodingError.invalidValue(part, context) {
    let path = context.codingPath.map { ".\($0.stringValue)" }.joined()
    throw .notAPropertyList(path: "value" + path, type: "\(Swift.type(of: part))")
  } catch {}
  throw .notAPropertyList(path: "value", type: "\(Value.self)")
}
