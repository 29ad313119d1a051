// Says what keeps posts from arriving.

import DarwinNotify
import Dispatch

/// The command `--doctor`.
struct Doctor {
  let name: NotificationName?
  let process: Int32?
  let isProbing: Bool
  let isJSON: Bool
  let bus: BusChoice

  /// Looks, and prints what was found. Returns the status: ``ExitStatus/found`` if something was,
  /// ``ExitStatus/failure`` if what was asked about cannot be examined.
  func run() -> ExitStatus {
    let isDone = DispatchSemaphore(value: 0)
    let result = Result()
    Task.detached {
      let scene = await Examination(name: name, process: process, choice: bus).run()
      result.scene = scene
      if isProbing { result.probe = await Probe.run() }
      isDone.signal()
    }
    isDone.wait()
    return report(result.scene, result.probe)
  }

  /// Passes what was found from the task.
  private final class Result: @unchecked Sendable {
    // Written before the semaphore is signalled, read afterwards.
    var scene = Scene()
    var probe: Probe?
  }

  private func report(_ scene: Scene, _ probe: Probe?) -> ExitStatus {
    let findings = Checks.findings(in: scene) + (probe?.findings ?? [])
    Output.print(
      isJSON
        ? json(scene, findings, probe).text
        : text(scene, findings, probe).joined(separator: "\n"))
    if findings.contains(where: { $0.certainty != .unknown }) { return .found }
    return findings.contains(where: \.leavesQuestionOpen) ? .failure : .success
  }

  private func text(_ scene: Scene, _ findings: [Finding], _ probe: Probe?) -> [String] {
    var lines: [String] = []
    for finding in findings {
      lines.append("\(finding.certainty.rawValue): \(finding.sentence)")
      lines.append("    \(finding.remedy)")
    }
    if !findings.contains(where: { $0.certainty != .unknown || $0.leavesQuestionOpen }) {
      lines.insert("nothing found that keeps a post from arriving", at: 0)
    }
    if let probe { lines.append(probe.line) }
    return lines + [summary(scene)]
  }

  private func summary(_ scene: Scene) -> String {
    let bus = scene.bus.isConnected ? printable(scene.bus.address) : "no bus"
    let table = scene.table.path.map(printable) ?? "no table"
    let others = counted(scene.processes.count, "other process", "other processes")
    return "looked at \(bus), \(table) and \(others) with a table"
  }

  private func json(_ scene: Scene, _ findings: [Finding], _ probe: Probe?) -> JSON {
    .object([
      ("name", name.map { .string($0.rawValue) } ?? .null),
      ("pid", process.map { .number($0) } ?? .null),
      ("findings", .array(findings.map(\.json))),
      ("bus", scene.bus.isConnected ? .string(scene.bus.address) : .null),
      ("table", scene.table.path.map { .string($0) } ?? .null),
      ("processes", .number(scene.processes.count)),
      ("probe", probe?.json ?? .null),
    ])
  }
}
