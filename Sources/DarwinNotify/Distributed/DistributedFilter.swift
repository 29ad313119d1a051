// Says which distributed notifications an observer asks for.

internal import CDarwinNotify

/// What an observer asks for. The corresponding C type is `dn_filter`.
package struct DistributedFilter: Sendable {
  /// Which names.
  package enum Names: Sendable {
    case all
    case name(String)
    /// All that begin with a text.
    case prefix(String)
  }

  package var names: Names
  package var object: String?
  /// A `DN_SUSPENSION_` value; Apple's have the same values.
  package var behavior: UInt

  package init(_ names: Names, object: String? = nil, behavior: UInt = 0) {
    self.names = names
    self.object = object
    self.behavior = behavior
  }

  /// Lends the C form of the filter.
  func withFilter(
    _ body: (dn_filter) throws(DarwinNotifyError) -> Void
  ) throws(DarwinNotifyError) {
    var filter = dn_filter()
    filter.behavior = CInt(truncatingIfNeeded: behavior)
    try withOptionalCString(object) { (object) throws(DarwinNotifyError) in
      filter.object = UnsafeRawPointer(object)
      switch names {
      case .all: try body(filter)
      case .name(let name):
        try withCString(name) { (name) throws(DarwinNotifyError) in
          filter.name = name
          try body(filter)
        }
      case .prefix(let prefix):
        try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
          filter.prefix = prefix
          try body(filter)
        }
      }
    }
  }
}
