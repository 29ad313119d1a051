// Copies the names that C lists.

internal import CDarwinNotify

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
  fileprivate init(_ record: dn_name_record) {
    name = NotificationName(String(cString: record.name))
    generation = record.generation
    state = record.state
    holders = UnsafeBufferPointer(start: record.pids, count: record.n_holders).map {
      $0 == 0 ? nil : $0
    }
  }
}
