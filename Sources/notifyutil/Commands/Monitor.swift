// Prints every post on the bus or, without one, those counted in the table.
import DarwinNotify
import Dispatch
import Glibc

struct Monitor {
  let prefix: String
  let isJSON: Bool
  let failures: Failures

  /// Watches on a thread of its own. Returns when no later post is missed; ends the program if
  /// there is neither a bus nor a table.
  func start() {
    let isReady = DispatchSemaphore(value: 0)
    DispatchQueue(label: "notifyutil.monitor").async {
      do throws(DarwinNotifyError) {
        try DarwinNotificationCenter.watchPosts(prefix: prefix) {
          isReady.signal()
          return .proceed
        } _: { post in
          Output.print(isJSON ? json(for: post).text : line(for: post))
          return .proceed
        }
      } catch {
        failures.report(.monitor(prefix: prefix), error)
        failures.status.end()
      }
    }
    isReady.wait()
  }

  private func line(for post: PostRecord) -> String {
    "\(localTime(post.microseconds)) \(post.center) \(printable(post.name.rawValue))"
      + " \(origin(of: post)): \(payload(of: post))"
  }

  private func origin(of post: PostRecord) -> String {
    if !post.sender.isEmpty { return "from \(sender(of: post))" }
    return post.coalesced == 1 ? "in the table" : "in the table, \(post.coalesced) posts"
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

  private func json(for post: PostRecord) -> JSON {
    let (seconds, microseconds) = post.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return .object([
      ("time", .number("\(seconds).\(padded(microseconds, to: 6))")),
      ("center", .string(post.center)),
      ("name", .string(post.name.rawValue)),
      ("sender", post.sender.isEmpty ? .null : .string(post.sender)),
      ("pid", post.processIdentifier.map { .number($0) } ?? .null),
      ("program", post.program.map { .string($0) } ?? .null),
      ("generation", post.generation.map { .number($0) } ?? .null),
      ("region", post.region.map { .string(hexadecimal($0)) } ?? .null),
      ("posts", .number(post.coalesced)),
      ("object", post.object.map { .string($0) } ?? .null),
      ("user_info", post.userInfo.map { .raw($0) } ?? .null),
      ("number", post.number.map { .number($0) } ?? .null),
    ])
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
