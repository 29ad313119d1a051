// Runs tasks on the thread that reads the shared table.

extension DarwinNotificationCenter {
  /// An executor for tasks that must hear of a post as early as a handler with ``Delivery/inline``.
  ///
  /// A task that prefers it runs on the thread that other processes wake, so no other thread has to
  /// be woken before the task sees the post:
  ///
  ///     let changes = try center.notifications(named: "com.example.changed")
  ///     let task = Task(executorPreference: center.taskExecutor) {
  ///       for await event in changes { print("received \(event.name)") }
  ///     }
  ///
  /// The same holds for an actor without an executor of its own that such a task calls, for tasks
  /// of a group and for `async let`. A new `Task { }` inside does not inherit it.
  ///
  /// - Tasks on it must not block, nor compute for long: meanwhile the process hears of no other
  ///   post through shared memory, as if an inline handler blocked. Work that takes long belongs
  ///   to another task, or into `withTaskExecutorPreference(globalConcurrentExecutor)`.
  /// - Its jobs run one at a time in the order in which they became ready, after the inline
  ///   handlers that wait there already. Priorities are ignored. A job never runs inside the call
  ///   that made it ready. Posts are received in between, even if a task yields without end.
  /// - It may be used before the center is, and starts the thread then. It keeps what it needs: a
  ///   task may go on after the last reference to the center is gone. Only if the thread cannot be
  ///   started, its jobs run on the global queue.
  /// - Once `exit()` has begun, no job starts any more.
  ///
  /// It is the same object at each call. The corresponding C function is `dn_center_enqueue`.
  public var taskExecutor: any TaskExecutor { executor }
}
