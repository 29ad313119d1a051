// Greets a bus, to see whether it answers.

import Glibc

/// What was found behind a socket.
struct BusGreeting {
  var answer = BusLook.Answer.unreachable
  var reason = ""
  /// The process that listens there, as in `dbus-daemon(12)`.
  var server: String?
  /// The user of that process.
  var owner: UInt32?
  /// The process, if it filters messages.
  var filter: String?

  private static let patience: CInt = 2_000

  /// Connects, and sees who listens; `isSpoken`: also begins the protocol and waits for the answer.
  init(_ address: BusAddress, isSpoken: Bool) {
    self.init(descriptor: address.connect(), isSpoken: isSpoken)
    // Of other transports nothing is known here; the library tries them.
    if address.socket == nil { reason = address.reasonOfFailure() }
  }

  /// The same for a connected socket, which is closed; or for a negative errno.
  init(descriptor: CInt, isSpoken: Bool) {
    guard descriptor >= 0 else {
      reason = String(cString: strerror(-descriptor))
      return
    }
    defer { close(descriptor) }
    if let (process, user) = Self.listener(of: descriptor) {
      owner = user
      let program = ProgramName.of(process)
      server = "\(program.map(printable) ?? "?")(\(process))"
      if program == "xdg-dbus-proxy" { filter = server }
    }
    answer = isSpoken ? Self.speak(to: descriptor) : .answers
  }

  /// The process that began to listen at the other end, and its user; `nil` if it is not visible
  /// from here.
  private static func listener(of descriptor: CInt) -> (process: Int32, user: UInt32)? {
    // struct ucred
    var credentials: [Int32] = [0, 0, 0]
    var size = socklen_t(12)
    let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
    guard result == 0, credentials[0] > 0 else { return nil }
    return (credentials[0], UInt32(bitPattern: credentials[1]))
  }

  /// Begins the protocol as this user.
  private static func speak(to descriptor: CInt) -> BusLook.Answer {
    let user = "\(geteuid())".utf8.map { padded($0, to: 2, radix: 16) }.joined()
    let greeting = [0] + Array("AUTH EXTERNAL \(user)\r\n".utf8)
    guard send(descriptor, greeting, greeting.count, CInt(MSG_NOSIGNAL)) > 0 else {
      return .refusesUser
    }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, patience) > 0 else { return .silent }
    var answer = [UInt8](repeating: 0, count: 256)
    let n = recv(descriptor, &answer, answer.count, 0)
    return n > 0 && String(decoding: answer[..<n], as: UTF8.self).hasPrefix("OK")
      ? .answers : .refusesUser
  }
}
