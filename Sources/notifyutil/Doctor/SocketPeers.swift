// Finds out which sockets the sockets of processes are connected to.

import Glibc

/// The Unix sockets of this network namespace, as the kernel lists them.
struct SocketPeers {
  private var names: [UInt32: String] = [:]
  private var peers: [UInt32: UInt32] = [:]

  /// Of `linux/sock_diag.h` and `linux/unix_diag.h`, which Swift's module of libc leaves out.
  private enum Constant {
    static let sockDiag: CInt = 4  // NETLINK_SOCK_DIAG
    static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
    static let requestDump: UInt16 = 0x301  // NLM_F_REQUEST | NLM_F_DUMP
    static let showNameAndPeer: UInt32 = 5  // UDIAG_SHOW_NAME | UDIAG_SHOW_PEER
    static let name: UInt16 = 0  // UNIX_DIAG_NAME
    static let peer: UInt16 = 2  // UNIX_DIAG_PEER
    static let headerBytes = 16  // struct nlmsghdr
    static let messageBytes = 16  // struct unix_diag_msg
    static let attributeBytes = 4  // struct rtattr
  }

  /// `nil` if the kernel does not tell.
  init?() {
    let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue) | O_CLOEXEC, Constant.sockDiag)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard Self.ask(descriptor), takeAnswers(descriptor) else { return nil }
  }

  /// The name of the socket at the other end; an abstract one begins with `@`.
  func peerName(of socket: UInt32) -> String? {
    peers[socket].flatMap { names[$0] }
  }

  private static func ask(_ descriptor: CInt) -> Bool {
    var words = [UInt32](repeating: 0, count: 10)
    words[0] = 40
    words[1] = UInt32(Constant.requestDump) << 16 | UInt32(Constant.byFamily)
    words[4] = UInt32(AF_UNIX)
    words[5] = .max  // in every state
    words[7] = Constant.showNameAndPeer
    let bytes = words.flatMap { word in (0..<4).map { UInt8(word >> (8 * $0) & 0xff) } }
    return send(descriptor, bytes, bytes.count, 0) == bytes.count
  }

  private mutating func takeAnswers(_ descriptor: CInt) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let n = recv(descriptor, &buffer, buffer.count, 0)
      if n < 0, errno == EINTR { continue }
      guard n > 0 else { return false }
      var rest = buffer[..<n]
      while rest.count >= Constant.headerBytes {
        let size = Int(rest.number(at: 0, bytes: 4))
        let type = UInt16(rest.number(at: 4, bytes: 2))
        guard size >= Constant.headerBytes, size <= rest.count else { return false }
        guard type == Constant.byFamily else {
          return type == 3  // NLMSG_DONE, or an error
        }
        takeSocket(rest.dropFirst(Constant.headerBytes).prefix(size - Constant.headerBytes))
        rest = rest.dropFirst((size + 3) & ~3)
      }
    }
  }

  private mutating func takeSocket(_ message: ArraySlice<UInt8>) {
    guard message.count >= Constant.messageBytes else { return }
    let inode = UInt32(message.number(at: 4, bytes: 4))
    var rest = message.dropFirst(Constant.messageBytes)
    while rest.count >= Constant.attributeBytes {
      let size = Int(rest.number(at: 0, bytes: 2))
      guard size >= Constant.attributeBytes, size <= rest.count else { return }
      let value = rest.dropFirst(Constant.attributeBytes).prefix(size - Constant.attributeBytes)
      switch UInt16(rest.number(at: 2, bytes: 2)) {
      case Constant.name: names[inode] = Self.text(of: value)
      case Constant.peer where value.count == 4:
        peers[inode] = UInt32(value.number(at: 0, bytes: 4))
      default: break
      }
      rest = rest.dropFirst((size + 3) & ~3)
    }
  }

  private static func text(of name: ArraySlice<UInt8>) -> String {
    guard name.first == 0 else {
      return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
    return "@" + String(decoding: name.dropFirst(), as: UTF8.self)
  }
}

extension ArraySlice<UInt8> {
  /// A number in the byte order of the machines that this library supports.
  fileprivate func number(at offset: Int, bytes: Int) -> UInt64 {
    (0..<bytes).reduce(0) { $0 | UInt64(self[startIndex + offset + $1]) << (8 * $1) }
  }
}
