// Exchanges typed messages in the form of Foundation's newest interface.

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
/// It travels as the user info of its name, so observers without the type see a dictionary. Like
/// every post, a message can come from any process: a user info that is no such message is left
/// out.
///
/// Messages have no subject, because an object cannot leave its process. Nothing reaches the
/// `NotificationCenter` of the process unless it is forwarded there, as in
/// `NotificationCenter.default.post(message, subject: center)`.
///
/// It needs the compiler of the package, Swift 6.2: older versions of Foundation do not have
/// `NotificationCenter.AsyncMessage`.
public protocol InterprocessMessage: NotificationCenter.AsyncMessage, Codable {
  /// The subject for a `NotificationCenter` that a message is forwarded to.
  associatedtype Subject = DistributedNotificationCenter

  /// The name that is posted.
  static var name: Notification.Name { get }
}

extension DistributedNotificationCenter {
  /// Posts a message. Errors go to ``onError``.
  ///
  /// ``post(_:_:object:options:)`` with the name of the message throws.
  ///
  /// - Parameters:
  ///   - message: a message that encodes as a dictionary, as a structure with properties does.
  ///   - options: how to post it.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post<Message: InterprocessMessage>(_ message: Message, options: Options = []) {
    report { try post(Message.name, message, options: options) }
  }

  /// Calls an asynchronous function for every message of a type, one after the other in the order
  /// of arrival, until the observation ends.
  ///
  /// It is registered when this returns. If that fails, ``onError`` gets the error, and no call
  /// follows. The function runs in a task; write `{ @MainActor message in … }` for the main actor.
  ///
  /// - Parameters:
  ///   - type: the type of the messages.
  ///   - observer: the function. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled. That also
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
  /// It is registered when this returns. If that fails, ``onError`` gets the error, and the
  /// sequence is empty. No message is merged with another, and none is dropped as long as there is
  /// room.
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
