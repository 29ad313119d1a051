// Prints every post on the bus or, while there is none, the posts of registered names.
import DarwinNotify
import Dispatch
import Glibc

struct Monitor {
  let prefix: String
  let isJSON: Bool
  let failures: Failures

  /// How long after a failure to look for the bus again.
  private static let retryInterval = Duration.seconds(1)

  /// Watches in a task of its own. Returns when no later post is missed; ends the program if
  /// there is neither a bus nor a table.
  func start() {
    let isReady = DispatchSemaphore(value: 0)
    Task.detached {
      do throws(DarwinNotifyError) {
        try await watch(isReady)
      } catch {
        failures.report(.monitor(prefix: prefix), error)
        failures.status.end()
      }
    }
    isReady.wait()
  }

  /// Watches the bus, or follows the table while there is no bus.
  private func watch(_ isReady: DispatchSemaphore) async throws(DarwinNotifyError) {
    var table: NotificationObservation?
    while true {
      do throws(DarwinNotifyError) {
        let posts = try await DarwinNotificationCenter.posts(prefix: prefix)
        await table?.end()
        table = nil
        isReady.signal()
        try await follow(posts)
      } catch .notConnected {
        if table == nil {
          table = try followTable()
          isReady.signal()
        }
        try? await Task.sleep(for: Self.retryInterval)
      }
    }
  }

  /// Prints posts until the bus is lost.
  private func follow(
    _ posts: AsyncThrowingStream<PostRecord, any Error>
  ) async throws(DarwinNotifyError) {
    do {
      for try await post in posts {
        Output.print(isJSON ? json(for: post).text : line(for: post))
      }
    } catch let error as DarwinNotifyError {
      throw error
    } catch {
      preconditionFailure("a watch ended with \(error)")
    }
  }

  private func followTable() throws(DarwinNotifyError) -> NotificationObservation {
    try DarwinNotificationCenter.shared.observeOthers(withPrefix: prefix, on: .thread) { event in
      Output.print(isJSON ? json(for: event).text : line(for: event))
    }
  }

  private func line(for event: NotificationEvent) -> String {
    let line = "\(localTime(now())) darwin \(printable(event.name.rawValue)) in the table"
    return event.coalesced == 1 ? line : line + ", \(event.coalesced) posts"
  }

  private func line(for post: PostRecord) -> String {
    "\(localTime(post.microseconds)) \(post.center) \(printable(post.name.rawValue))"
      + " from \(sender(of: post)): \(payload(of: post))"
  }

  private func sender(of post: PostRecord) -> String {
    guard let pid = post.processIdentifier else { return "\(post.sender), gone" }
    guard let program = post.program else { return "pid \(pid)" }
    return "pid \(pid) \(printable(program))"
  }

  private func payload(of post: PostRecord) -> String {
    let parts = [
      post.object.map { "object \(quotedIfNeeded($0))" },
      post.userInfo.map { "user info \(printableJSON($0))" },
      post.number.map { "number \($0)" },
    ].compactMap { $0 }
    if !parts.isEmpty { return parts.joined(separator: ", ") }
    guard let generation = post.generation, let region = post.region else { return "not counted" }
    return "generation \(generation) of region \(hexadecimal(region))"
  }

  private func json(for event: NotificationEvent) -> JSON {
    .object(
      head(now(), "darwin", event.name) + [
        ("sender", .null), ("pid", .null), ("program", .null), ("generation", .null),
        ("region", .null), ("posts", .number(event.coalesced)), ("object", .null),
        ("user_info", .null), ("number", .null),
      ])
  }

  private func json(for post: PostRecord) -> JSON {
    .object(
      head(post.microseconds, post.center, post.name) + [
        ("sender", .string(post.sender)),
        ("pid", post.processIdentifier.map { .number($0) } ?? .null),
        ("program", post.program.map { .string($0) } ?? .null),
        ("generation", post.generation.map { .number($0) } ?? .null),
        ("region", post.region.map { .string(hexadecimal($0)) } ?? .null),
        ("posts", .number(1)),
        ("object", post.object.map { .string($0) } ?? .null),
        ("user_info", post.userInfo.map { .raw($0) } ?? .null),
        ("number", post.number.map { .number($0) } ?? .null),
      ])
  }

  private func head(
    _ time: UInt64, _ center: String, _ name: NotificationName
  ) -> [(String, JSON)] {
    let (seconds, microseconds) = time.quotientAndRemainder(dividingBy: 1_000_000)
    return [
      ("time", .number("\(seconds).\(padded(microseconds, to: 6))")),
      ("center", .string(center)),
      ("name", .string(name.rawValue)),
    ]
  }

  private func now() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
  }

  private func localTime(_ microseconds: UInt64) -> String {
    var seconds = time_t(microseconds / 1_000_000)
    var local = tm()
    localtime_r(&seconds, &local)
    let date =
      "\(local.tm_year + 1900)-\(padded(local.tm_mon + 1, to: 2))"
      + "-\(padded(local.tm_mday, to: 2))"
    let time = [local.tm_hour, local.tm_min, local.tm_sec].map { padded($0, to: 2) }
    return "\(date) \(time.joined(separator: ":")).\(padded(microseconds % 1_000_000, to: 6))"
  }
}
