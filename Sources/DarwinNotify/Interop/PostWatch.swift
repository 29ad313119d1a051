// Reads the posts of a bus from C.

internal import CDarwinNotify
internal import Dispatch
internal import Glibc

/// One watch, on a queue of its own.
final class PostWatch: @unchecked Sendable {
  // All that changes is used on the queue alone.
  private let queue = DispatchQueue(label: "org.darwinnotify.posts")
  private let records: AsyncThrowingStream<PostRecord, any Error>.Continuation
  private var watch: OpaquePointer?
  private var source: (any DispatchSourceRead)?
  private var ready: CheckedContinuation<Void, any Error>?

  init(_ records: AsyncThrowingStream<PostRecord, any Error>.Continuation) {
    self.records = records
    records.onTermination = { [weak self] _ in self?.stop() }
  }

  /// Begins. Returns when no later post is missed, or throws what ends the watch before that.
  func begin(on bus: String?, prefix: String) async throws {
    try await withCheckedThrowingContinuation { ready in
      queue.async {
        self.ready = ready
        do throws(DarwinNotifyError) {
          try self.open(bus, prefix)
        } catch {
          self.end(error)
        }
      }
    }
  }

  private func open(_ bus: String?, _ prefix: String) throws(DarwinNotifyError) {
    var watcher = dn_watcher()
    watcher.ready = { context in
      Context.borrow(context, as: PostWatch.self).begun(.success(()))
      return 0
    }
    watcher.post = { record, context in
      guard let record = record?.pointee else { return 0 }
      Context.borrow(context, as: PostWatch.self).records.yield(PostRecord(record))
      return 0
    }
    watcher.context = Context.retain(self)
    watcher.destroy = Context.release
    try withOptionalCString(bus) { (bus) throws(DarwinNotifyError) in
      try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
        try check(dn_watch_open(bus, prefix, &watcher, &watch))
      }
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: dn_watch_get_fd(watch), queue: queue)
    source.setEventHandler { self.advance() }
    source.setCancelHandler { self.watch = dn_watch_close(self.watch) }
    self.source = source
    source.resume()
  }

  private func advance() {
    let result = dn_watch_process(watch)
    if result != 0 { end(DarwinNotifyError(rawValue: -result)) }
  }

  private func begun(_ result: Result<Void, any Error>) {
    ready.take()?.resume(with: result)
  }

  private func end(_ error: DarwinNotifyError) {
    begun(.failure(error))
    records.finish(throwing: error)
    close()
  }

  private func close() {
    source.take()?.cancel()
  }

  /// Nobody reads any longer.
  private func stop() {
    queue.async { self.close() }
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
