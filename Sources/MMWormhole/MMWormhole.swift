// Passes objects between the programs of an app group, with the interface of MMWormhole.

internal import DarwinNotify
internal import DarwinNotifySupport
// The header of the original also imports it.
@_exported public import Foundation
package import Wormhole

/// A collection of mailboxes that the programs of an app group share, each with an identifier.
///
/// Source that uses the class of the same name on iOS and macOS compiles unchanged:
///
///     let wormhole = MMWormhole(
///       applicationGroupIdentifier: "group.org.example.lights", optionalDirectory: "wormhole")
///     wormhole.passMessageObject(["brightness": 7] as NSDictionary, identifier: "light")
///     wormhole.listenForMessage(withIdentifier: "light") { message in
///       show((message as? [String: Any])?["brightness"] as? Int)
///     }
///
/// Strings, numbers, dates, data, `NSNull`, and arrays and dictionaries of these become messages of
/// the module `Wormhole`, which programs in other languages can also read. An object of any other
/// class is archived, so only programs that have the class can read it. No error ends the process:
/// the result is `nil`, and `Diagnostics` gets a line. All functions may be called on any thread.
public final class MMWormhole: NSObject, Sendable {
  private let store: MessageStore?
  private let clearsAll: Bool
  private let entries = Locked<[ExactString: Entry]>([:])

  /// A listener, which is called only on the main queue.
  private struct Listener: @unchecked Sendable {
    // As in Objective-C, the caller hands it over together with what it captures.
    let call: (Any?) -> Void
  }

  private struct Entry {
    var listener: Listener
    var observation: NotificationObservation?
  }

  /// Opens a wormhole. When it is released, its listeners end; messages stay.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the app group.
  ///   - directory: the name of a subdirectory of the group's directory; by default `wormhole`.
  public convenience init(
    applicationGroupIdentifier identifier: String?, optionalDirectory directory: String?
  ) {
    let store = Self.attempt(#function, identifier) {
      try AppGroup(identifier ?? "").messages(in: directory)
    }
    self.init(store, clearsAll: directory != nil)
  }

  /// Opens a wormhole in an open group.
  package convenience init(group: AppGroup, optionalDirectory directory: String?) {
    let store = Self.attempt(#function, group.identifier) { try group.messages(in: directory) }
    self.init(store, clearsAll: directory != nil)
  }

  private init(_ store: MessageStore?, clearsAll: Bool) {
    (self.store, self.clearsAll) = (store, clearsAll)
    super.init()
  }

  // MARK: Messages

  /// Stores a message, then notifies all listeners, including those of this process.
  ///
  /// - Parameters:
  ///   - messageObject: the message, at most 1 MiB once it is encoded. With `nil`, the listeners
  ///     get the message that is already stored.
  ///   - identifier: the identifier of the message, at most 255 bytes.
  public func passMessageObject(_ messageObject: (any NSCoding)?, identifier: String?) {
    attempt(#function, identifier) { store, identifier in
      let content = try messageObject.map { StoredContent.value(try StoredValue(of: $0)) }
      try store.pass(RecordDraft(content ?? .ping), to: identifier)
    }
  }

  /// Returns the newest message.
  ///
  /// - Parameter identifier: the identifier of the message.
  /// - Returns: the message, or `nil` if there is none or it cannot be read.
  @discardableResult public func message(withIdentifier identifier: String?) -> Any? {
    attempt(#function, identifier) { store, identifier in
      try store.newest(of: identifier)?.object(of: identifier)
    } ?? nil
  }

  /// Removes a message. Listeners are not called.
  ///
  /// - Parameter identifier: the identifier of the message.
  public func clearMessageContents(forIdentifier identifier: String?) {
    attempt(#function, identifier) { store, identifier in _ = try store.clear(identifier) }
  }

  /// Removes all messages of the directory. As in the original, it does nothing if the wormhole was
  /// opened without a directory.
  public func clearAllMessageContents() {
    guard clearsAll, let store else { return }
    Self.attempt(#function, nil) { _ = try store.clearAll() }
  }

  // MARK: Listeners

  /// Calls a listener on the main queue for each later message.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the messages.
  ///   - listener: gets the message, or `nil` if it cannot be read. It replaces this wormhole's
  ///     previous listener for the identifier.
  public func listenForMessage(
    withIdentifier identifier: String?, listener: ((Any?) -> Void)?
  ) {
    guard let listener else { return stopListeningForMessage(withIdentifier: identifier) }
    attempt(#function, identifier) { store, identifier in
      guard replace(with: Listener(call: listener), of: identifier) == nil else { return }
      do {
        let observation = try store.listen(to: identifier, on: .main) { [weak self] record in
          self?.hear(record, of: identifier)
        }
        keep(observation, of: identifier)
      } catch {
        // A listener that has replaced this one meanwhile goes with it.
        stopListeningForMessage(withIdentifier: identifier)
        throw error
      }
    }
  }

  /// Removes the listener of an identifier. If called on the main queue, the listener is not called
  /// again.
  ///
  /// - Parameter identifier: the identifier of the messages.
  public func stopListeningForMessage(withIdentifier identifier: String?) {
    guard let identifier else { return }
    // What the listener captures is released after the lock.
    _ = entries.withLock { $0.removeValue(forKey: ExactString(identifier)) }
  }

  /// Returns the previous listener.
  private func replace(with listener: Listener, of identifier: String) -> Listener? {
    entries.withLock { entries in
      let key = ExactString(identifier)
      let old = entries[key]
      entries[key] = Entry(listener: listener, observation: old?.observation)
      return old?.listener
    }
  }

  /// Keeps an observation, unless its listener was removed meanwhile.
  private func keep(_ observation: NotificationObservation, of identifier: String) {
    _ = entries.withLock { entries in
      entries[ExactString(identifier)]?.observation = observation
    }
  }

  private func hear(_ heard: Result<StoredRecord, WormholeError>, of identifier: String) {
    let function = "listenForMessage(withIdentifier:listener:)"
    guard let record = Self.attempt(function, identifier, { try heard.get() }) else { return }
    if case .cleared = record.content { return }
    let listener = entries.withLock { $0[ExactString(identifier)]?.listener }
    guard let listener else { return }
    guard case .ping = record.content else {
      return listener.call(
        Self.attempt(function, identifier) { try record.object(of: identifier) } ?? nil)
    }
    listener.call(message(withIdentifier: identifier))
  }

  // MARK: Errors

  /// Runs a body with the store. If it throws, reports the error and returns `nil`.
  @discardableResult private func attempt<Value>(
    _ function: String, _ identifier: String?, _ body: (MessageStore, String) throws -> Value
  ) -> Value? {
    guard let store, let identifier else { return nil }
    return Self.attempt(function, identifier) { try body(store, identifier) }
  }

  @discardableResult private static func attempt<Value>(
    _ function: String, _ identifier: String?, _ body: () throws -> Value
  ) -> Value? {
    do {
      return try body()
    } catch {
      report(error, of: "MMWormhole.\(function)", identifier)
      return nil
    }
  }
}

/// Hands an error to `Diagnostics`, as one line.
func report(_ error: any Error, of function: String, _ identifier: String?) {
  let details = identifier.map { " (identifier \($0.debugDescription))" } ?? ""
  let text = "\(function): \(error)\(details)".unicodeScalars.map { scalar in
    // Other processes may have chosen parts of the text.
    scalar.properties.generalCategory == .control ? " " : Character(scalar)
  }
  Diagnostics.report(
    .error, String(text),
    ["function": function, "identifier": identifier].compactMapValues { $0 })
}

extension AppGroup {
  fileprivate func messages(in directory: String?) throws -> MessageStore {
    let directory = directory ?? "wormhole"
    // Creates the directory, unless its name is reserved.
    _ = try Wormhole(group: self, directory: directory)
    return store(named: directory)
  }
}
