// Runs a program of this package.
import DarwinNotify
import Foundation
import Testing

/// A program that was built beside the tests.
final class Program: @unchecked Sendable {
  // The process is started before the value is shared; what comes later is behind the mutex.
  private let process = Process()
  private let output = Locked<[String]>([])
  private let status = Locked<Int32?>(nil)

  /// Starts the program with a bus of its own.
  init(_ name: String, _ arguments: [String], on bus: PrivateBus) throws {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let pipe = Pipe()
    process.executableURL = folder.appendingPathComponent(name)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["DARWIN_NOTIFY_BUS": bus.address], uniquingKeysWith: { $1 })
    process.standardOutput = pipe
    process.terminationHandler = { [weak self] process in
      self?.status.withLock { $0 = process.terminationStatus }
    }
    try process.run()
    Thread.detachNewThread { [weak self] in
      var rest = Data()
      while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[rest.index(after: end)...])
          self?.output.withLock { $0.append(line) }
        }
      }
    }
  }

  deinit {
    process.terminate()
  }

  /// The lines that it has printed so far.
  var lines: [String] { output.withLock { $0 } }

  /// How it ended, once it has.
  var exitStatus: Int32? { status.withLock { $0 } }

  func waitForLine(_ line: String) async {
    await eventually("\"\(line)\" was not printed") { self.lines.contains(line) }
  }

  func waitForSuccess() async {
    await eventually("the program did not succeed") { self.exitStatus == 0 }
  }
}
