// Names the threads on which a store is used.

/// Where the functions of a store run for code that must not block.
struct StoreQueues: Sendable {
  let reading: WorkQueue
  let writing: WorkQueue
}
