// Names the threads on which a store is used.

/// Where the functions of a store run for code that must not block.
struct StoreQueues: Sendable {
  let reading: WorkQueue
  let writing = WorkQueue(width: 1)

  /// Creates the queues of a file.
  init(of file: some SQLiteFile) {
    reading = WorkQueue(width: file.readerCount)
  }
}
