// Reads the property lists of C.

internal import CDarwinNotify

/// A property list that a notification carries: a dictionary that never changes.
///
/// The corresponding C type is `dn_dict`.
package final class PropertyList: @unchecked Sendable {
  // The pointer never changes, nor what it points to.
  let list: OpaquePointer

  /// Takes over one reference.
  init(adopting list: OpaquePointer) {
    self.list = list
  }

  /// Adds a reference to a list that C lends.
  convenience init?(retaining list: OpaquePointer?) {
    guard let list = dn_dict_ref(list) else { return nil }
    self.init(adopting: list)
  }

  deinit {
    dn_dict_unref(list)
  }

  /// One line, as in ``PostRecord/userInfo``.
  package var json: String? { jsonText(of: list) }

  /// Lends the dictionary to a function.
  package func read<Result, Failure: Error>(
    _ body: (PropertyListDictionary) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The caller holds `self`, which holds the list.
    try body(PropertyListDictionary(dictionary: list))
  }
}

/// A value without parts. Its bytes are borrowed.
package enum PropertyListScalar {
  case string(String)
  case bool(Bool)
  case integer(Int64)
  /// A number above the range of the case before.
  case unsigned(UInt64)
  case real(Double)
  case data(UnsafeRawBufferPointer)
  /// Microseconds since 1970 UTC.
  case date(Int64)
}

/// A value, borrowed from the property list that it is part of.
package enum PropertyListValue {
  case scalar(PropertyListScalar)
  case array(PropertyListArray)
  case dictionary(PropertyListDictionary)
}

/// A dictionary, borrowed from the property list that it is part of.
package struct PropertyListDictionary {
  fileprivate let dictionary: OpaquePointer

  package var count: Int { dn_dict_get_count(dictionary) }

  /// The key at an index below `count`, and its value. Keys are in the order of their bytes.
  package subscript(index: Int) -> (key: String, value: PropertyListValue) {
    var value = dn_value()
    guard let key = dn_dict_get_at(dictionary, index, &value) else {
      preconditionFailure("no such index")
    }
    return (String(cString: key), PropertyListValue(value))
  }
}

/// An array, borrowed from the property list that it is part of.
package struct PropertyListArray {
  fileprivate let array: OpaquePointer

  package var count: Int { dn_array_get_count(array) }

  /// The value at an index below `count`.
  package subscript(index: Int) -> PropertyListValue {
    var value = dn_value()
    guard dn_array_get(array, index, &value) else { preconditionFailure("no such index") }
    return PropertyListValue(value)
  }
}

extension PropertyListValue {
  fileprivate init(_ value: dn_value) {
    self =
      switch Int(value.type) {
      case DN_TYPE_STRING: .scalar(.string(String(cString: value.as.string)))
      case DN_TYPE_BOOL: .scalar(.bool(value.as.boolean))
      case DN_TYPE_INT64: .scalar(.integer(value.as.int64))
      case DN_TYPE_UINT64: .scalar(.unsigned(value.as.uint64))
      case DN_TYPE_DOUBLE: .scalar(.real(value.as.real))
      case DN_TYPE_DATA:
        .scalar(.data(UnsafeRawBufferPointer(start: value.as.data, count: value.n_bytes)))
      case DN_TYPE_DATE: .scalar(.date(value.as.date_us))
      case DN_TYPE_ARRAY: .array(PropertyListArray(array: value.as.array))
      case DN_TYPE_DICT: .dictionary(PropertyListDictionary(dictionary: value.as.dict))
      default: preconditionFailure("a type that C does not document")
      }
  }
}
