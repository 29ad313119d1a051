// Builds the property lists of C.

internal import CDarwinNotify

/// Builds one property list, whose values are copied.
///
/// The corresponding C type is `dn_dict_builder`.
package struct PropertyListBuilder: ~Copyable {
  /// Maximum nesting depth of containers, including the outermost.
  package static let maxDepth = Int(DN_DICT_MAX_DEPTH)

  private let builder: OpaquePointer?

  /// Starts with an empty dictionary.
  package init() {
    builder = dn_dict_builder_new()
  }

  deinit {
    dn_dict_builder_free(builder)
  }

  /// Sets the value of a key, or appends it to an array if the key is `nil`.
  ///
  /// - Parameters:
  ///   - value: a value without parts; containers are begun and ended.
  ///   - key: without NUL.
  package func set(_ value: PropertyListScalar, for key: String?) {
    switch value {
    case .string(var string):
      string.withUTF8 { utf8 in
        // C also takes an empty string, but no null pointer.
        let start = utf8.baseAddress.map(UnsafeRawPointer.init) ?? UnsafeRawPointer(noBytes)
        set(dn_value(DN_TYPE_STRING, utf8.count) { $0.data = start }, for: key)
      }
    case .bool(let bool): set(dn_value(DN_TYPE_BOOL) { $0.boolean = bool }, for: key)
    case .integer(let number): set(dn_value(DN_TYPE_INT64) { $0.int64 = number }, for: key)
    case .unsigned(let number): set(dn_value(DN_TYPE_UINT64) { $0.uint64 = number }, for: key)
    case .real(let number): set(dn_value(DN_TYPE_DOUBLE) { $0.real = number }, for: key)
    case .data(let bytes):
      set(dn_value(DN_TYPE_DATA, bytes.count) { $0.data = bytes.baseAddress }, for: key)
    case .date(let microseconds):
      set(dn_value(DN_TYPE_DATE) { $0.date_us = microseconds }, for: key)
    }
  }

  /// Begins a nested dictionary, which receives the values that follow until it is ended.
  package func beginDictionary(for key: String?) {
    withKey(key) { dn_dict_builder_begin_dict(builder, $0) }
  }

  /// Begins a nested array, which receives the values that follow until it is ended.
  package func beginArray(for key: String?) {
    withKey(key) { dn_dict_builder_begin_array(builder, $0) }
  }

  /// Ends the dictionary or array begun last.
  package func end() {
    dn_dict_builder_end(builder)
  }

  /// Finishes the property list.
  ///
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for text that cannot be sent,
  ///   ``DarwinNotifyError/tooLarge``, ``DarwinNotifyError/outOfMemory``.
  package consuming func finish() throws(DarwinNotifyError) -> PropertyList {
    var list: OpaquePointer?
    let builder = builder
    discard self
    try check(dn_dict_builder_finish(builder, &list))
    guard let list else { preconditionFailure("C returned success without a dictionary") }
    return PropertyList(adopting: list)
  }

  private func set(_ value: dn_value, for key: String?) {
    withUnsafePointer(to: value) { value in
      withKey(key) { dn_dict_builder_set(builder, $0, value) }
    }
  }

  private func withKey(_ key: String?, _ body: (UnsafePointer<CChar>?) -> Void) {
    guard let key else { return body(nil) }
    key.withCString(body)
  }
}

/// Where a string without bytes is.
private nonisolated(unsafe) let noBytes = UnsafePointer(
  // Never freed and never written.
  UnsafeMutablePointer<CChar>.allocate(capacity: 1))

extension dn_value {
  fileprivate init(
    _ type: Int, _ count: Int = 0, _ set: (inout dn_value.__Unnamed_union_as) -> Void
  ) {
    self.init()
    self.type = CInt(type)
    n_bytes = count
    set(&`as`)
  }
}
