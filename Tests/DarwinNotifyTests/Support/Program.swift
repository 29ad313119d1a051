// Runs programs.

/// A program in a process of its own. It ends with this object.
final class Program: Sendable {
  private let process: SpawnedProcess
  private let seen = Locked(Progress())

  private struct Progress {
    var status: Int32?
    var output: [UInt8] = []
    var errors: [UInt8] = []
    var openPipes = 2
  }

  /// Starts a program on a bus or, without one, on the one that `environment` names, if any.
  ///
  /// A name stands for a program built along with the tests; a path stands for itself.
  init(
    _ name: String, _ arguments: [String], on bus: PrivateBus?,
    environment: [String: String] = [:]
  ) throws {
    let address = bus.map { ["DARWIN_NOTIFY_BUS": $0.address] } ?? [:]
    let variables = ProcessInfo.processInfo.environment
      .merging(address, uniquingKeysWith: { $1 })
      .merging(environment, uniquingKeysWith: { $1 })
    process = try SpawnedProcess(Self.path(of: name), arguments, environment: variables)
    collect(process.output) { $0.output += $1 }
    collect(process.errors) { $0.errors += $1 }
    Thread.detachNewThread { [process, seen] in
      process.wait()
      seen.withLock { $0.status = process.reap() }
    }
  }

  deinit { send(SIGKILL) }

  /// Runs a program until it ends.
  static func run(
    _ name: String, _ arguments: [String], on bus: PrivateBus?,
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Outcome {
    let program = try Program(name, arguments, on: bus, environment: environment)
    return await program.end(sourceLocation: sourceLocation)
  }

  /// Whether `unshare -rm` gives a program mounts of its own.
  static let canMount: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = ["-rm", "true"]
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// The file of a program built along with the tests.
  static func path(of name: String) -> String {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    return URL(fileURLWithPath: name, relativeTo: folder).path
  }

  var processIdentifier: Int32 { process.identifier }

  /// Sends a signal, unless the program has ended.
  func send(_ signal: Int32) {
    // Until it is reaped, under the lock, no other process gets its number.
    seen.withLock { if $0.status == nil { kill(process.identifier, signal) } }
  }

  var isRunning: Bool { seen.withLock { $0.status == nil } }

  /// Everything it has printed so far.
  var output: String { seen.withLock { String(decoding: $0.output, as: UTF8.self) } }

  /// Everything it has written to standard error so far.
  var errors: String { seen.withLock { String(decoding: $0.errors, as: UTF8.self) } }

  /// The complete lines it has printed so far.
  var lines: [String] {
    output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  func waitForLine(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) async {
    await eventually("\"\(line)\" was not printed", sourceLocation: sourceLocation) {
      self.lines.contains(line)
    }
  }

  /// Waits for a text and for the end of its line.
  func waitForOutput(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async {
    await eventually("\"\(text)\" was not printed", sourceLocation: sourceLocation) {
      self.lines.contains { $0.contains(text) }
    }
  }

  func waitUntilStopped(sourceLocation: SourceLocation = #_sourceLocation) async {
    await eventually("the program did not stop", sourceLocation: sourceLocation) {
      self.process.isStopped
    }
  }

  func waitForSuccess(sourceLocation: SourceLocation = #_sourceLocation) async {
    let outcome = await end(sourceLocation: sourceLocation)
    #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)
  }

  /// Waits until it ends. Returns everything it printed.
  func end(sourceLocation: SourceLocation = #_sourceLocation) async -> Outcome {
    await eventually("the program did not end", sourceLocation: sourceLocation) {
      self.seen.withLock { $0.status != nil && $0.openPipes == 0 }
    }
    return seen.withLock { progress in
      Outcome(
        status: progress.status ?? -1,
        output: String(decoding: progress.output, as: UTF8.self),
        errors: String(decoding: progress.errors, as: UTF8.self))
    }
  }

  private func collect(
    _ descriptor: CInt, _ append: @escaping @Sendable (inout Progress, [UInt8]) -> Void
  ) {
    Thread.detachNewThread { [seen] in
      SpawnedProcess.readAll(from: descriptor) { bytes in seen.withLock { append(&$0, bytes) } }
      seen.withLock { $0.openPipes -= 1 }
    }
  }
}

/// How a program ended, with everything it printed.
struct Outcome: Equatable, Sendable {
  /// The exit status, or the number of the signal that ended it.
  var status: Int32 = 0
  var output = ""
  var errors = ""
}
