// Runs tasks on the thread that reads the shared table.

extension DarwinNotificationCenter {
  /// An executor for tasks that must hear of a post as early as a handler with `Delivery.inline`.
  ///
  /// A task that prefers it runs on the thread that other processes wake, so no other thread has to
  /// be woken before the task sees the post:
  ///
  ///     let changes = try center.notifications(named: "com.example.changed")
  ///     let task = Task(executorPreference: center.taskExecutor) {
  ///       for await event in changes { print("received \(event.name)") }
  ///     }
  ///
  /// The same holds for an actor that such a task calls, if the actor has no executor of its own,
  /// for tasks of a group and for `async let`. A new `Task { }` does not inherit the executor.
  ///
  /// - Tasks on it must not block or compute for long: meanwhile the process hears of no other post
  ///   through shared memory, as if an inline handler blocked. Put long work into another task, or
  ///   into `withTaskExecutorPreference(globalConcurrentExecutor)`.
  /// - Its jobs run one at a time, in the order in which they became ready, after the inline
  ///   handlers that are already waiting. Priorities are ignored. A job never runs inside the call
  ///   that made it ready. Posts are received in between, even if a task yields forever.
  /// - It can be used before the center is; it then starts the thread. It keeps what it needs: a
  ///   task may continue after the last reference to the center is gone. If the thread cannot be
  ///   started, jobs run on the global queue.
  /// - Once `exit()` has begun, no more jobs start.
  ///
  /// Each call returns the same object. The corresponding C function is `dn_center_enqueue`.
  public var taskExecutor: any TaskExecutor { executor }
}
