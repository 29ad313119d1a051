// Carries the closures of a watch through C.

internal import CDarwinNotify
internal import Glibc

/// The closures of a watch, which C borrows until the watch ends.
private struct PostWatch {
  let ready: () -> WatchDecision
  let post: (PostRecord) -> WatchDecision

  /// Returns the closures behind a C context.
  static func borrow(_ context: UnsafeMutableRawPointer?) -> PostWatch {
    guard let context else { preconditionFailure("C lost a context") }
    return context.load(as: PostWatch.self)
  }
}

/// Watches a bus with closures. Returns the result of C: not negative unless it failed.
func watchPosts(
  on bus: UnsafePointer<CChar>?, prefix: UnsafePointer<CChar>,
  ready: () -> WatchDecision, post: (PostRecord) -> WatchDecision
) -> CInt {
  withoutActuallyEscaping(ready) { ready in
    withoutActuallyEscaping(post) { post in
      var watch = PostWatch(ready: ready, post: post)
      return withUnsafeMutablePointer(to: &watch) { watch in
        var watcher = dn_watcher(
          ready: { PostWatch.borrow($0).ready().result },
          post: { record, context in
            guard let record = record?.pointee else { return WatchDecision.proceed.result }
            return PostWatch.borrow(context).post(PostRecord(record)).result
          },
          context: watch)
        return dn_watch_posts(bus, prefix, &watcher)
      }
    }
  }
}

extension WatchDecision {
  /// The C value of the decision.
  fileprivate var result: CInt {
    switch self {
    case .proceed: 0
    case .stop: 1
    }
  }
}

extension PostRecord {
  /// Copies a record borrowed from C.
  fileprivate init(_ record: dn_post_record) {
    microseconds = record.time_us
    center = String(cString: record.center)
    name = NotificationName(String(cString: record.name))
    sender = String(cString: record.sender)
    processIdentifier = record.pid == 0 ? nil : record.pid
    program = record.program.map { String(cString: $0) }
    generation = record.generation == 0 ? nil : record.generation
    region = record.region == 0 ? nil : record.region
    object = record.object.map { String(cString: $0) }
    userInfo = jsonText(of: record.user_info)
    number = record.number == 0 ? nil : record.number
  }
}

/// The JSON of a dictionary of C.
func jsonText(of dictionary: OpaquePointer?) -> String? {
  guard let text = dn_dict_copy_json(dictionary) else { return nil }
  defer { free(text) }
  return String(cString: text)
}
