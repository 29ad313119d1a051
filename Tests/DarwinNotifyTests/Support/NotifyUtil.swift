// Runs notifyutil.
import DarwinNotify
import Testing

/// Runs the command until it ends.
func runNotifyUtil(
  _ arguments: [String], on bus: PrivateBus?, environment: [String: String] = [:],
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Outcome {
  try await Program.run(
    "notifyutil", arguments, on: bus, environment: environment, sourceLocation: sourceLocation)
}

/// Runs the command until it ends, without a table: it sees none of those that processes share when
/// nothing in the environment says where, and a file size limit prevents a new one. Requires
/// `Program.canMount`.
func runNotifyUtilWithoutTable(
  _ arguments: [String], on bus: PrivateBus?, environment: [String] = [],
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Outcome {
  let script = #"""
    for directory in /run/user /dev/shm; do
      [ ! -d $directory ] || mount -t tmpfs none $directory || exit
    done
    ulimit -f 1000
    exec env "$@"
    """#
  let program = [Program.path(of: "notifyutil")]
  return try await Program.run(
    "/usr/bin/unshare", ["-rm", "/bin/sh", "-c", script, "sh"] + environment + program + arguments,
    on: bus, sourceLocation: sourceLocation)
}

/// Starts the command with registrations. Returns when it is ready.
func startNotifyUtil(
  _ arguments: [String], on bus: PrivateBus, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Program {
  let ready = Recorder()
  let center = try bus.makeCenter()
  let observation = try center.observe("com.example.ready", on: .thread) { ready.record($0) }
  let fence = ["-z", "0", "-p", "com.example.ready"]
  let program = try Program("notifyutil", arguments + fence, on: bus)
  await eventually("notifyutil is not ready", sourceLocation: sourceLocation) { ready.posts > 0 }
  observation.cancel()
  return program
}
