// Exchanges typed messages in the form of Foundation's `NotificationCenter.AsyncMessage`.

public import DarwinNotify
public import Foundation

/// A message that programs exchange through a ``DistributedNotificationCenter``.
///
///     struct TrackStarted: InterprocessMessage {
///       static let name = Notification.Name("com.example.player.started")
///       var title: String
///     }
///
///     center.post(TrackStarted(title: "Naima"))
///     for await message in center.messages(for: TrackStarted.self) { show(message.title) }
///
/// It travels as the user info of a notification, so observers that do not use the type see a
/// dictionary. As any process can post, a user info that does not decode as a message is ignored.
///
/// Messages have no subject, because an object cannot leave its process. A message reaches the
/// process's `NotificationCenter` only if the program forwards it there, as in
/// `NotificationCenter.default.post(message, subject: center)`.
///
/// It needs Swift 6.2, as does the package: older versions of Foundation do not have
/// `NotificationCenter.AsyncMessage`.
public protocol InterprocessMessage: NotificationCenter.AsyncMessage, Codable {
  /// The type of the subject when a message is forwarded to a `NotificationCenter`.
  associatedtype Subject = DistributedNotificationCenter

  /// The name that is posted.
  static var name: Notification.Name { get }
}

extension DistributedNotificationCenter {
  /// Posts a message. Errors go to ``onError``.
  ///
  /// To catch them, call ``post(_:_:object:options:)`` with the name of the message.
  ///
  /// - Parameters:
  ///   - message: a message that encodes as a dictionary, such as a structure with properties.
  ///   - options: how to post it.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post<Message: InterprocessMessage>(_ message: Message, options: Options = []) {
    report { try post(Message.name, message, options: options) }
  }

  /// Calls an asynchronous function for every message of a type, one after the other in the order
  /// of arrival, until the observation ends.
  ///
  /// It is registered when this returns. If the registration fails, ``onError`` gets the error and
  /// the function is never called. The function runs in a task; write `{ @MainActor message in … }`
  /// for the main actor.
  ///
  /// - Parameters:
  ///   - type: the type of the messages.
  ///   - observer: the function. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled. Its end also
  ///   cancels the task.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func addObserver<Message: InterprocessMessage>(
    for type: Message.Type, using observer: @escaping @Sendable (Message) async -> Void
  ) -> NotificationObservation {
    NotificationObservation(ObservingTask(messages(for: type), observer))
  }

  /// Returns the messages of a type as a sequence.
  ///
  /// It is registered when this returns. If the registration fails, ``onError`` gets the error and
  /// the sequence is empty. No message is merged with another, and none is dropped as long as there
  /// is room.
  ///
  /// - Parameter type: the type of the messages.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func messages<Message: InterprocessMessage>(
    for type: Message.Type
  ) -> QueuedNotifications<Message> {
    var messages = QueuedNotifications<Message>.empty
    report { messages = try values(of: type, named: Message.name) }
    return messages
  }
}
