// Describes the stored elements that sequences and handlers read.

internal import DarwinNotify

/// A position among stored elements, after which elements are read.
///
/// One thread at a time uses it, a thread on which it may block.
protocol StoredReader<Element>: Sendable {
  associatedtype Element: Sendable

  /// The position after the last element that was read.
  var position: StoredPosition { get }

  /// The cursor in which the numbers of handled elements are stored.
  var cursor: StoreCursor? { get }

  /// Whether an element is stale once another one is stored.
  var readsNewest: Bool { get }

  /// Returns the elements after the position, and moves it after them.
  ///
  /// - Throws: ``WormholeError``; only the source of a sequence may throw other errors.
  mutating func read(within limit: WorkLimit?) throws -> StoredPage<Element>

  /// Moves the position back to before the last page, none of which was delivered.
  mutating func goBack()

  /// Returns a reader that continues where another one stopped.
  func following(_ predecessor: StoredPosition) -> Self

  /// Returns the value that a handler gets for an error; a sequence throws the error.
  func element(for error: WormholeError) -> Element?
}

extension StoredReader {
  var cursor: StoreCursor? { nil }

  // A sequence without a cursor needs none of these; the readers of a pump have their own.
  var position: StoredPosition { StoredPosition() }  // unreachable: a sequence does not ask
  var readsNewest: Bool { false }  // unreachable: a sequence does not ask
  func goBack() {}  // unreachable: a sequence never does
  func following(_: StoredPosition) -> Self { self }  // unreachable: only listeners are replaced
  func element(for error: WormholeError) -> Element? { nil }  // unreachable: a sequence throws
}

/// Some elements that follow a position.
struct StoredPage<Element: Sendable>: Sendable {
  /// The elements with their numbers; `nil` for one that is not delivered.
  var elements: ArraySlice<(number: UInt64, element: Element?)> = []

  /// Whether to read again without another notification.
  var hasMore = false
}

/// Something that is stored, with the notifications of its changes.
struct StoredFeed<Element: Sendable>: Sendable {
  /// The file, for errors.
  let path: String

  /// Where elements are read and acknowledged.
  let queues: StoreQueues

  /// Calls a handler, which must not block, after each change.
  let observe:
    @Sendable (@escaping @Sendable () -> Void) throws(WormholeError) -> NotificationObservation

  /// Makes a reader that begins where this feed begins. The changes are observed already.
  let makeReader: @Sendable () throws(WormholeError) -> any StoredReader<Element>
}
