// Waits for a post with the task executor of the center, in either language mode.
import DarwinNotify
import Foundation

@main
struct ExecutorLoop {
  static func main() async throws {
    let center = DarwinNotificationCenter.shared
    let changes = try center.notifications(named: NotificationName(CommandLine.arguments[1]))
    let task = Task(executorPreference: center.taskExecutor) {
      for await event in changes { return "received \(event.name)" }
      return "ended"
    }
    print("ready")
    fflush(nil)
    print(await withTaskExecutorPreference(center.taskExecutor) { await task.value })
  }
}
