// Runs notifyutil.

/// Runs the command until it ends.
func runNotifyUtil(
  _ arguments: [String], on bus: PrivateBus?, environment: [String: String] = [:],
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Outcome {
  try await Program.run(
    "notifyutil", arguments, on: bus, environment: environment, sourceLocation: sourceLocation)
}

/// Runs the command until it ends, without a table: it does not see the default
/// places of shared tables, and a file size limit prevents a new one, as does mounting `ro`.
/// The limit is 1 MiB: the thread sanitizer itself maps a file of 512 KiB, and a shorter one
/// ends the process with SIGBUS.
/// Requires `Program.canMount`.
func runNotifyUtilWithoutTable(
  _ arguments: [String], on bus: PrivateBus?, environment: [String] = [], mounting: String = "rw",
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Outcome {
  let script = #"""
    for directory in /run/user /dev/shm; do
      [ ! -d $directory ] || mount -t tmpfs -o "$0" none $directory || exit
    done
    ulimit -f 2048
    exec env "$@"
    """#
  let program = [Program.path(of: "notifyutil")]
  return try await Program.run(
    "/usr/bin/unshare",
    ["-rm", "/bin/sh", "-c", script, mounting] + environment + program + arguments, on: bus,
    sourceLocation: sourceLocation)
}

/// Starts the command with registrations. Returns when it is ready.
func startNotifyUtil(
  _ arguments: [String], on bus: PrivateBus, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Program {
  let ready = try Recorder(try bus.makeCenter(), "com.example.ready")
  let fence = ["-z", "0", "-p", "com.example.ready"]
  let program = try Program("notifyutil", arguments + fence, on: bus)
  await eventually("notifyutil is not ready", sourceLocation: sourceLocation) { ready.posts > 0 }
  return program
}
