// Passes the status of a running relay to `--status`.

import FoundationEssentials
import Glibc

/// A socket on which a relay sends its status to each client that connects.
final class StatusSocket {
  private let path: String
  private let descriptor: CInt

  init(on loop: Loop, _ status: @escaping () -> Status) throws(Mistake) {
    path = try File.socketPath
    descriptor = try Self.makeSocket()
    unlink(path)
    let mask = umask(0o077)
    defer { umask(mask) }
    guard Self.with(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
      throw Mistake.system(path)
    }
    loop.add(descriptor) { [descriptor] in
      let client = accept(descriptor, nil, nil)
      guard client >= 0 else { return }
      guard let answer = try? JSONEncoder().encode(status()) else { return _ = close(client) }
      Self.answer(client, answer, on: loop)
    }
  }

  /// Writes the answer to a client, which may be slow, on a thread of its own.
  private static func answer(_ client: CInt, _ answer: Data, on loop: Loop) {
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let thread = runDetached {
      answer.withUnsafeBytes { bytes in
        var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
        while !rest.isEmpty, case let n = write(client, rest.baseAddress, rest.count), n > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[n...])
        }
      }
      close(client)
    }
    guard let thread else { return _ = close(client) }
    loop.add(thread) {
      loop.remove(thread)
      close(thread)
    }
  }

  func remove() {
    unlink(path)
  }

  /// Prints the status of the running relay.
  static func ask(_ format: Status.Format) throws(Mistake) {
    let descriptor = try makeSocket()
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let path = try File.socketPath
    guard with(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw Mistake("no relay of this user is running", status: 2)
    }
    var answer = Data()
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let n = read(descriptor, &buffer, buffer.count), n > 0 { answer += buffer[..<n] }
    guard let status = try? JSONDecoder().decode(Status.self, from: answer) else {
      throw Mistake("the relay does not answer", status: 2)
    }
    switch format {
    case .text: print(status.text)
    case .json: print(String(decoding: answer, as: UTF8.self))
    case .metrics: print(Metrics(status: status).text)
    }
  }

  private static func makeSocket() throws(Mistake) -> CInt {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Mistake.system("no socket can be made") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func with(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      guard path.utf8.count < bytes.count else { return false }
      bytes.copyBytes(from: path.utf8)
      return true
    }
    guard fits else {
      errno = ENAMETOOLONG
      return -1
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
