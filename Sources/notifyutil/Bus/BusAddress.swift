// Finds out why nothing answers at a D-Bus address.
import Glibc

/// One D-Bus address, such as `unix:path=/run/user/1000/bus`.
struct BusAddress {
  private let transport: String
  private var values: [Substring: [UInt8]] = [:]

  /// Transports that start a program, which the library does not support.
  private static let launchers: Set = ["unixexec", "autolaunch", "launchd"]

  init(_ address: String) {
    let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    transport = parts.count == 2 ? String(parts[0]) : ""
    for pair in parts.dropFirst().joined().split(separator: ",") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if sides.count == 2 { values[sides[0]] = Self.unescaped(sides[1]) }
    }
  }

  /// Tries to connect again, just far enough to see what fails.
  func reasonOfFailure() -> String {
    if Self.launchers.contains(transport) || transport.hasPrefix("x-") {
      return "this address would start a program, which is not supported"
    }
    guard socketName != nil else {
      return transport.isEmpty || values.isEmpty ? "not a D-Bus address" : "no message bus answers"
    }
    let descriptor = connect()
    guard descriptor >= 0 else { return String(cString: strerror(-descriptor)) }
    close(descriptor)
    return "the socket exists, but no message bus behind it accepts this user"
  }

  /// The name of its Unix socket, as in `sockaddr_un`; `nil` for other transports.
  private var socketName: [UInt8]? {
    guard transport == "unix" else { return nil }
    return values["path"] ?? values["abstract"].map { [0] + $0 }
  }

  /// The name of its Unix socket, as the kernel shows it.
  var socket: String? {
    socketName.map { name in
      name.first == 0
        ? "@" + String(decoding: name.dropFirst(), as: UTF8.self)
        : String(decoding: name, as: UTF8.self)
    }
  }

  /// Connects to its Unix socket. Returns a descriptor, which does not block, or a negative errno.
  func connect() -> CInt {
    guard let socketName else { return -EAFNOSUPPORT }
    return Self.connect(to: socketName)
  }

  static func connect(to name: [UInt8]) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return -ENAMETOOLONG }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let isAbstract = name.first == 0
    let size = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)
    let descriptor = Glibc.socket(
      AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
    guard descriptor >= 0 else { return -errno }
    let result = withUnsafeBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        Glibc.connect(descriptor, $0.baseAddress, socklen_t(size))
      }
    }
    if result == 0 { return descriptor }
    let error = errno
    close(descriptor)
    return -error
  }

  /// Resolves `%` with two hexadecimal digits.
  private static func unescaped(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let digits = String(rest.prefix(2)),
        digits.utf8.count == 2, let value = UInt8(digits, radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
