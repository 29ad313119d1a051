// Starts the processes that receive.

import Glibc
import TestSupport

/// A process of this program in another role. It ends with the value.
final class Child {
  private let child: OpaquePointer

  /// Starts the process. Returns when it is ready to receive.
  init(_ role: [String]) {
    let arguments = ["/proc/self/exe", "--role"] + role
    let strings = arguments.map { strdup($0) }
    defer { strings.forEach { free($0) } }
    var pointers = strings.map { UnsafePointer($0) } + [nil]
    guard let child = test_spawn_program(&pointers) else { preconditionFailure("no process") }
    self.child = child
    _ = awaitReport()
  }

  deinit {
    _ = test_child_kill(child)
  }

  var identifier: pid_t { test_child_pid(child) }

  /// Returns the next number that the process reports.
  func awaitReport() -> UInt64 {
    guard let line = test_child_read_line(child), let number = UInt64(String(cString: line)) else {
      preconditionFailure("a process ended too early")
    }
    return number
  }

  /// Lets the process go on that holds what it has received.
  func release() {
    test_child_write_line(child, "")
  }
}
