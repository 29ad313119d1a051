// A wrapper of notify(3) that imports nothing else, as <notify.h> includes <dispatch/dispatch.h>.

import notify

final class QueueObserver {
  private let queue = DispatchQueue(label: "com.example.sources")
  private var token: Int32 = NOTIFY_TOKEN_INVALID

  init(_ name: String, queue: DispatchQueue? = nil, block: @escaping (Int32) -> Void) {
    notify_register_dispatch(name, &token, queue ?? self.queue, block)
  }

  deinit { notify_cancel(token) }
}
