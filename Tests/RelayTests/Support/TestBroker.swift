// Starts a mosquitto for one test.
import Foundation
import Glibc
import TestSupport
import Testing

/// A broker that nobody else uses, on a port of the loopback. It ends with this object.
final class TestBroker: @unchecked Sendable {
  // One test uses it, one call at a time.

  static let isInstalled = access(program, X_OK) == 0
  private static let program = "/usr/sbin/mosquitto"

  let directory: String
  private let reserved: ReservedPort
  private let settings: String
  private var process: Program?

  /// Prepares a broker with these lines in its configuration, which may store its data.
  init(_ settings: String = "allow_anonymous true", keeps: Bool = false) throws {
    directory = try makeDirectory("broker")
    reserved = try ReservedPort()
    let storage =
      keeps
      ? """
      persistence true
      persistence_location \(directory)/
      autosave_interval 1
      autosave_on_changes true
      """ : "persistence false"
    self.settings = """
      listener \(reserved.number) 127.0.0.1
      max_queued_messages 100000
      set_tcp_nodelay true
      user root
      \(storage)
      \(settings.replacing("DIRECTORY", with: directory))
      """
    try self.settings.write(toFile: "\(directory)/conf", atomically: true, encoding: .utf8)
  }

  /// Nobody else gets it, even while the broker is stopped.
  var port: Int { reserved.number }

  func start() async throws {
    process = try Program(Self.program, ["-c", "\(directory)/conf"], on: nil)
    await eventually("mosquitto does not listen") { [port] in isOpen(port) }
  }

  /// Ends it as a service manager would.
  func stop() async {
    if let process { kill(process.processIdentifier, SIGTERM) }
    _ = await process?.end()
    process = nil
  }

  /// Stops it in the middle of whatever it does, or lets it go on.
  func hang(_ isHanging: Bool) {
    if let process { kill(process.processIdentifier, isHanging ? SIGSTOP : SIGCONT) }
  }

  var url: String { "mqtt://127.0.0.1:\(port)" }

  func realm(_ settings: [String] = Pair.settings) -> [String] {
    ["--realm", "home", "--broker", url] + settings
  }
}

/// Makes a private directory, removed with the process.
func makeDirectory(_ name: String) throws -> String {
  let parent = String(cString: try #require(test_directory()))
  let path = "\(parent)/\(name)-\(UUID().uuidString.prefix(8))"
  try #require(mkdir(path, 0o700) == 0)
  return path
}

func loopbackAddress(_ port: Int) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  address.sin_port = in_port_t(port).bigEndian
  return address
}

func withAddress<Result>(
  _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
) -> Result {
  withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
  }
}

/// A port of the loopback that the kernel gives to nobody else as long as this object lives. Only a
/// server that asks for this port, with SO_REUSEADDR, can listen on it.
final class ReservedPort: Sendable {
  let number: Int
  private let descriptor: CInt

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var (address, size) = (loopbackAddress(0), socklen_t(MemoryLayout<sockaddr_in>.size))
    var isOn: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
    let isBound = withAddress(&address) {
      bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
    }
    (self.descriptor, number) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    try #require(isBound)
  }

  deinit { close(descriptor) }
}

private func isOpen(_ port: Int) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = loopbackAddress(port)
  return withAddress(&address) {
    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
  } == 0
}

extension TestBroker {
  /// Publishes like a stranger who knows the topics.
  func publish(_ topic: String, _ payload: String, isRetained: Bool = false) async throws {
    let outcome = try await publisher(topic, payload, isRetained: isRetained).end()
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// As `publish`, without waiting for it to be done.
  func publisher(
    _ topic: String, _ payload: String, isRetained: Bool = false
  ) throws -> Program {
    // An argument has at most 128 KiB.
    let file = "\(directory)/\(UUID())"
    try payload.write(toFile: file, atomically: true, encoding: .utf8)
    let arguments = [
      "-p", "\(port)", "-V", "mqttv5", "-q", "1", "-t", "darwinnotify/1/home/\(topic)",
      "-f", file,
    ]
    return try Program(
      "/usr/bin/mosquitto_pub", arguments + (isRetained ? ["-r"] : []), on: nil)
  }

  /// Before the start.
  func addUser(_ name: String, _ password: String) async throws {
    let file = "\(directory)/passwords"
    let create = access(file, F_OK) == 0 ? [] : ["-c"]
    let outcome = try await Program.run(
      "/usr/bin/mosquitto_passwd", create + ["-b", file, name, password], on: nil)
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// Makes an authority, a certificate for localhost and one for a client.
  func makeCertificates() async throws {
    let script = """
      cd '\(directory)' && exec 2>&1
      key() {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key "${@:2}"
      }
      key ca -x509 -subj /CN=test-ca -days 2 -out ca.crt &&
      for name in server client; do
        key $name -subj /CN=localhost -out $name.csr &&
        openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
          -extfile <(echo subjectAltName=DNS:localhost) -out $name.crt || exit
      done
      chmod 600 *.key
      """
    let outcome = try await Program.run("/bin/bash", ["-c", script], on: nil)
    try #require(outcome.status == 0, "\(outcome)")
  }

  var certificateSettings: [String] {
    [
      "--ca", "\(directory)/ca.crt", "--certificate", "\(directory)/client.crt", "--key",
      "\(directory)/client.key",
    ]
  }
}
