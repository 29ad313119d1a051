// Wrappers of notify(3).

import Dispatch
import Foundation
import notify

/// A closure for a name.
final class DispatchObserver {
  private var token: Int32 = NOTIFY_TOKEN_INVALID

  init?(_ name: String, queue: DispatchQueue = .main, handler: @escaping (UInt64) -> Void) {
    let status = notify_register_dispatch(name, &token, queue) { token in
      var state: UInt64 = 0
      guard notify_get_state(token, &state) == NOTIFY_STATUS_OK else { return }
      handler(state)
    }
    guard status == NOTIFY_STATUS_OK else { return nil }
  }

  deinit {
    if notify_is_valid_token(token) { notify_cancel(token) }
  }
}

/// A descriptor that is read on a queue.
final class DescriptorObserver {
  private var descriptor: Int32 = -1
  private var token: Int32 = 0
  private let source: DispatchSourceRead

  init(_ name: String, queue: DispatchQueue, handler: @escaping (Int32) -> Void) {
    let status = notify_register_file_descriptor(name, &descriptor, 0, &token)
    guard status == UInt32(NOTIFY_STATUS_OK) else { fatalError("status \(status)") }
    let descriptor = self.descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler {
      var posted: Int32 = 0
      guard read(descriptor, &posted, 4) == 4 else { return }
      handler(Int32(bigEndian: posted))
    }
    source.resume()
  }

  func isToken(_ posted: Int32) -> Bool { posted == token }

  deinit {
    source.cancel()
    notify_cancel(token)
  }
}

/// A token that is checked now and then.
struct Flag {
  private var token: Int32 = 0

  init(_ name: String) {
    notify_register_check(name, &token)
  }

  var isSet: Bool {
    var check: Int32 = 0
    notify_check(token, &check)
    return check != 0
  }
}

func post(_ name: String, state: UInt64) {
  var token: Int32 = 0
  guard notify_register_check(name, &token) == NOTIFY_STATUS_OK else { exit(1) }
  notify_set_state(token, state)
  notify_post(name)
  notify_cancel(token)
}
