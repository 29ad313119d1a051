// Converts Swift values to arguments of C functions.

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
