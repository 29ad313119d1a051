// Specifies the task executor of a center.

@Suite(.bounded)
struct TaskExecutorTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage
  private var executor: any TaskExecutor { stage.center.taskExecutor }

  init() throws { stage = try Stage() }

  // MARK: - Where

  @Test func isTheSameEachTimeAndAnotherForAnotherCenter() {
    #expect(stage.center.taskExecutor === stage.center.taskExecutor)
    #expect(stage.center.taskExecutor !== stage.poster.taskExecutor)
  }

  @Test func runsTasksBeforeTheCenterIsUsed() async throws {
    let unused = try DarwinNotificationCenter.isolated()
    let task = Task(executorPreference: unused.taskExecutor) { currentThreadName() }
    #expect(await task.value == "dn-direct")
  }

  @Test func aLoopRunsWhereInlineHandlersRun() async throws {
    let (handlers, loops) = (Log<String>(), Log<String>())
    let observation = try stage.center.observe(name, on: .inline) { _ in
      handlers.append(currentThreadName())
    }
    let (merged, queued) = (
      try stage.center.notifications(named: name),
      try stage.center.notifications(withPrefix: name.rawValue)
    )
    let tasks = [
      Task(executorPreference: executor) {
        for await _ in merged { loops.append(currentThreadName()) }
      },
      Task(executorPreference: executor) {
        for await _ in queued { loops.append(currentThreadName()) }
      },
    ]
    for count in 1...10 {
      try stage.poster.post(name)
      await eventually { handlers.entries.count == count && loops.entries.count == 2 * count }
    }
    #expect(Set(handlers.entries + loops.entries) == ["dn-direct"])
    tasks.forEach { $0.cancel() }
    for task in tasks { await task.value }
    withExtendedLifetime(observation) {}
  }

  @Test func childTasksInheritItAndNewTasksDoNot() async {
    let names = await Task(executorPreference: executor) {
      async let child = currentThreadName()
      let member = await withTaskGroup(of: String.self) { group in
        group.addTask { currentThreadName() }
        return await group.next()
      }
      let new = await Task { currentThreadName() }.value
      return (await child, member, new)
    }.value
    #expect(names.0 == "dn-direct")
    #expect(names.1 == "dn-direct")
    #expect(names.2 != "dn-direct")
  }

  @Test func actorsRunThereUnlessTheyHaveAnExecutor() async {
    let resident = Resident(QueueExecutor())
    let names = await Task(executorPreference: executor) {
      let roaming = await Roamer().threadName()
      await resident.visit()
      return (roaming, await onMain(), currentThreadName())
    }.value
    #expect(names.0 == "dn-direct")
    #expect(names.1 != "dn-direct")
    #expect(names.2 == "dn-direct")
    #expect(await resident.visits == 1)
  }

  @Test func aTaskMayLeaveItForLongWork() async {
    let names = await Task(executorPreference: executor) {
      let away = await withTaskExecutorPreference(globalConcurrentExecutor) { currentThreadName() }
      return (away, currentThreadName())
    }.value
    #expect(names.0 != "dn-direct")
    #expect(names.1 == "dn-direct")
  }

  // MARK: - In which order

  @Test func jobsRunInTheOrderInWhichTheyBecameReady() async {
    let log = Log<Int>()
    let tasks = (0..<1000).map { number in
      Task(executorPreference: executor, priority: number % 2 == 0 ? .low : .high) {
        log.append(number)
      }
    }
    for task in tasks { await task.value }
    #expect(log.entries == Array(0..<1000))
  }

  @Test func jobsOfManyThreadsRunOneAtATime() async {
    let turnstile = Turnstile()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { [executor] in
          let tasks = (0..<500).map { _ in
            Task(executorPreference: executor) {
              for _ in 0..<4 {
                turnstile.pass()
                await Task.yield()
              }
            }
          }
          for task in tasks { await task.value }
        }
      }
    }
    #expect(turnstile.passes == 8 * 500 * 4)
    #expect(turnstile.collisions == 0)
  }

  @Test func aTaskThatYieldsWithoutEndDoesNotStarvePosts() async throws {
    let isOver = Flag()
    let task = Task(executorPreference: executor) {
      while !isOver.isSet { await Task.yield() }
    }
    let seen = try Recorder(stage.center, name, on: .inline)
    for count in 1...100 {
      try stage.poster.post(name)
      await eventually { seen.posts == count }
    }
    isOver.set()
    await task.value
  }

  // MARK: - The end

  @Test func aCancelledLoopEndsThere() async throws {
    let notifications = try stage.center.notifications(named: name)
    let begun = Flag()
    let task = Task(executorPreference: executor) {
      begun.set()
      for await _ in notifications {}
      return currentThreadName()
    }
    await eventually { begun.isSet }
    task.cancel()
    #expect(await task.value == "dn-direct")
  }

  @Test func aTaskGoesOnWithoutItsCenter() async throws {
    let isOver = Flag()
    func begin() throws -> (Task<String, Never>, Weak<DarwinNotificationCenter>) {
      let center = try DarwinNotificationCenter.isolated()
      let task = Task(executorPreference: center.taskExecutor) {
        while !isOver.isSet { try? await Task.sleep(for: .milliseconds(1)) }
        return currentThreadName()
      }
      return (task, Weak(center))
    }
    let (task, center) = try begin()
    #expect(center.object == nil)
    isOver.set()
    #expect(await task.value == "dn-direct")
  }

  @Test func lastReferencesMayEndThere() async throws {
    func begin() throws -> (Task<Void, Never>, Weak<DarwinNotificationCenter>, Weak<AnyObject>) {
      let center = try stage.bus.makeCenter()
      let task = Task(executorPreference: center.taskExecutor) {
        await Task.yield()
        withExtendedLifetime(center) {}
      }
      return (task, Weak(center), Weak(center.taskExecutor))
    }
    for _ in 1...20 {
      let (task, center, executor) = try begin()
      await task.value
      await eventually("the center is alive") { center.object == nil }
      await eventually("the executor is alive") { executor.object == nil }
    }
  }

  @Test func jobsRunElsewhereIfThereCanBeNoCenter() async {
    await #expect(processExitsWith: .success) {
      setenv("DARWIN_NOTIFY_BUS", "no such bus", 1)
      let center = DarwinNotificationCenter.shared
      #expect(throws: DarwinNotifyError.invalidArgument) { try center.post("com.example.changed") }
      let task = Task(executorPreference: center.taskExecutor) {
        await Task.yield()
        return currentThreadName()
      }
      #expect(await task.value != "dn-direct")
    }
  }

  @Test func noJobStartsOnceExitHasBegun() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let center = try DarwinNotificationCenter.isolated()
      let task = Task(executorPreference: center.taskExecutor) {
        while !Task.isCancelled { await Task.yield() }
      }
      await Task(executorPreference: center.taskExecutor) { leave() }.value
      await task.value
    }
  }

  // MARK: - Loops that do not ask for it

  @Test @MainActor func aLoopOnTheMainActorStaysThere() async throws {
    let notifications = try stage.center.notifications(named: name)
    let poster = stage.poster
    var (posts, rounds) = (0, 0)
    try poster.post(name)
    for await event in notifications {
      MainActor.assertIsolated()
      dispatchPrecondition(condition: .onQueue(.main))
      #expect(withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil })
      (posts, rounds) = (posts + event.coalesced, rounds + 1)
      if rounds == 20 { break }
      // At once, or when the loop waits.
      if rounds % 2 == 0 {
        try poster.post(name)
      } else {
        Task.detached { try poster.post(name) }
      }
    }
    #expect(posts == 20)
    #expect(await Task.detached { currentThreadName() }.value != "dn-direct")
  }

  @Test @MainActor func aCancelledLoopOnTheMainActorEnds() async throws {
    let notifications = try stage.center.notifications(withPrefix: name.rawValue)
    let task = Task { @MainActor in
      for await _ in notifications {}
      MainActor.assertIsolated()
    }
    await Task.yield()
    task.cancel()
    await task.value
  }

  @Test func loopsOfOtherActorsAndTasksKeepOffTheThread() async throws {
    let log = Log<String>()
    let (resident, roamer) = (Resident(QueueExecutor()), Roamer())
    let sequences = try (0..<3).map { _ in try stage.center.notifications(named: name) }
    let tasks = [
      Task { await roamer.log(sequences[0], in: log) },
      Task { await resident.log(sequences[1], in: log) },
      Task { for await _ in sequences[2] { log.append(currentThreadName()) } },
    ]
    for count in 1...10 {
      try stage.poster.post(name)
      await eventually { log.entries.count == 3 * count }
    }
    #expect(!log.entries.contains("dn-direct"))
    tasks.forEach { $0.cancel() }
    for task in tasks { await task.value }
  }
}

/// An actor that runs wherever its callers do.
private actor Roamer {
  func threadName() -> String { currentThreadName() }

  func log(_ notifications: Notifications, in log: Log<String>) async {
    for await _ in notifications { log.append(currentThreadName()) }
  }
}

extension Resident {
  fileprivate func log(_ notifications: Notifications, in log: Log<String>) async {
    for await _ in notifications { log.append(currentThreadName()) }
  }
}

/// Not known not to return.
private func leave() { exit(7) }

@MainActor private func onMain() -> String { currentThreadName() }

/// Counts how often it is passed, and whether by two at once.
private final class Turnstile: Sendable {
  private let inside = Locked(false)
  private let counts = Locked((passes: 0, collisions: 0))

  var passes: Int { counts.withLock { $0.passes } }
  var collisions: Int { counts.withLock { $0.collisions } }

  func pass() {
    let isTaken = inside.withLock { inside in
      defer { inside = true }
      return inside
    }
    counts.withLock { $0 = ($0.passes + 1, $0.collisions + (isTaken ? 1 : 0)) }
    inside.withLock { $0 = false }
  }
}

/// A reference that keeps nothing alive.
private final class Weak<Object: AnyObject>: @unchecked Sendable {
  // The reference is only read.
  private(set) weak var object: Object?

  init(_ object: Object) {
    self.object = object
  }
}
