// Adapts C functions to Swift.

internal import CDarwinNotify

/// Passes text to C. Text that contains a NUL is refused, since C would read only up to it.
func withCString(
  _ text: String, _ body: (UnsafePointer<CChar>) throws(DarwinNotifyError) -> Void
) throws(DarwinNotifyError) {
  try withCString(text, orThrow: .invalidArgument, body)
}

/// Passes text to C, or throws the error if it contains a NUL.
func withCString<Failure: Error>(
  _ text: String, orThrow refusal: Failure,
  _ body: (UnsafePointer<CChar>) throws(Failure) -> Void
) throws(Failure) {
  guard !text.utf8.contains(0) else { throw refusal }
  let result = text.withCString { pointer in
    Result { () throws(Failure) in try body(pointer) }
  }
  try result.get()
}

/// Passes text to C, or a null pointer.
func withOptionalCString(
  _ text: String?, _ body: (UnsafePointer<CChar>?) throws(DarwinNotifyError) -> Void
) throws(DarwinNotifyError) {
  guard let text else { return try body(nil) }
  try withCString(text, body)
}

extension Duration {
  /// The duration in microseconds, rounded up, for C's unsigned time limits.
  var wholeMicroseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let microsecond: Int64 = 1_000_000_000_000
    let fraction = UInt64((attoseconds + microsecond - 1) / microsecond)
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
    let (sum, carry) = whole.addingReportingOverflow(fraction)
    return overflow || carry ? .max : sum
  }
}

/// Appends the names in use on a bus. Returns the result of C: 0 or a negative errno.
func listNames(on bus: UnsafePointer<CChar>?, into names: inout [NameRecord]) -> CInt {
  withUnsafeMutablePointer(to: &names) { names in
    dn_list_names(
      bus,
      { record, context in
        guard let record, let context else { preconditionFailure("C lost a context") }
        let names = context.assumingMemoryBound(to: [NameRecord].self)
        names.pointee.append(NameRecord(record.pointee))
        return 0
      }, names)
  }
}

extension NameRecord {
  /// Copies a record borrowed from C.
  init(_ record: dn_name_record) {
    name = NotificationName(String(cString: record.name))
    generation = record.generation
    state = record.state
    holders = UnsafeBufferPointer(start: record.pids, count: record.n_holders).map {
      $0 == 0 ? nil : $0
    }
    posts = record.n_posts
  }
}

/// Throws if a C function returned an error.
func check(_ result: CInt) throws(DarwinNotifyError) {
  guard result >= 0 else { throw DarwinNotifyError(rawValue: -result) }
}

/// Throws if a post failed, or has reached nobody outside the process.
func checkPost(_ result: CInt) throws(DarwinNotifyError) {
  guard result != DN_NOT_CONNECTED else { throw .notConnected }
  try check(result)
}

extension NotificationObservation {
  /// Takes over the reference that a C function returned on success.
  convenience init(adoptingRegistered observer: OpaquePointer?) {
    guard let observer else { preconditionFailure("C returned success without an observer") }
    self.init(ObserverReference(adopting: observer))
  }
}

/// Throws if a function of `<notify.h>` returned an error.
func checkStatus(_ status: UInt32) throws(NotifyError) {
  guard status == UInt32(NOTIFY_STATUS_OK) else { throw NotifyError(rawValue: status) }
}

/// Passes a name to `<notify.h>`. A name that contains a NUL is refused, since C would read only up
/// to it.
func withCString(
  _ name: NotificationName, _ body: (UnsafePointer<CChar>) throws(NotifyError) -> Void
) throws(NotifyError) {
  try withCString(name.rawValue, orThrow: .invalidName, body)
}
