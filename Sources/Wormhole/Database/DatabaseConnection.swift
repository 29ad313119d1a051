// Gives the body of a transaction access to the database.

extension SharedDatabase {
  /// The database inside a transaction.
  ///
  /// It is valid only in the body that it is passed to. The body cannot begin or end transactions,
  /// but may use savepoints. After a statement that rolled back, such as `INSERT OR ROLLBACK`, no
  /// other can run.
  public struct Connection: ~Copyable {
    private let database: SQLiteConnection

    init(_ database: SQLiteConnection) {
      self.database = database
    }

    /// Runs statements and ignores their rows.
    ///
    /// - Parameters:
    ///   - sql: one or more statements.
    ///   - values: the values of their parameters, one after the other; `nil` is NULL.
    /// - Throws: ``WormholeError/database``, for example for a violated constraint;
    ///   ``WormholeError/damaged``.
    public borrowing func run(
      _ sql: String, _ values: (any SQLiteValue)?...
    ) throws {
      try run(sql, arguments: values)
    }

    /// Runs statements with an array of values, as ``run(_:_:)`` does.
    public borrowing func run(
      _ sql: String, arguments values: [(any SQLiteValue)?]
    ) throws {
      try database.run(sql, values.map { $0?.field ?? .null }) { statement in
        while try statement.step() {}
      }
    }

    /// Runs statements and returns the rows of the last one.
    ///
    /// - Parameters:
    ///   - sql: one or more statements.
    ///   - values: the values of their parameters, one after the other; `nil` is NULL.
    /// - Returns: the rows, all at once.
    /// - Throws: what ``run(_:_:)`` throws.
    public borrowing func rows(
      _ sql: String, _ values: (any SQLiteValue)?...
    ) throws -> [Row] {
      try rows(sql, arguments: values)
    }

    /// Runs statements with an array of values, as ``rows(_:_:)`` does.
    public borrowing func rows(
      _ sql: String, arguments values: [(any SQLiteValue)?]
    ) throws -> [Row] {
      var rows: [Row] = []
      try database.run(sql, values.map { $0?.field ?? .null }) { statement in
        rows = []
        var columns: Row.Columns?
        while try statement.step() {
          let known = columns ?? Row.Columns(of: statement)
          columns = known
          rows.append(Row(known, statement))
        }
      }
      return rows
    }

    /// Runs one statement, and calls a body for each row, of which one at a time is in memory.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - values: the values of its parameters, one after the other; `nil` is NULL.
    ///   - body: gets a row; returns whether to go on. It must not run the same statement.
    /// - Throws: what ``run(_:_:)`` throws; what `body` throws.
    public borrowing func forEachRow(
      _ sql: String, arguments values: [(any SQLiteValue)?] = [],
      _ body: (Row) throws -> Bool
    ) throws {
      try database.run(sql, values.map { $0?.field ?? .null }) { statement in
        var columns: Row.Columns?
        while try statement.step() {
          // The first step prepares the statement again if another process has altered the table.
          let known = columns ?? Row.Columns(of: statement)
          columns = known
          guard try body(Row(known, statement)) else { return }
        }
      }
    }

    /// The number of the last commit that this transaction sees, from which
    /// ``SharedDatabase/changes(in:since:)`` can continue; 0 if there was none.
    ///
    /// - Throws: what ``run(_:_:)`` throws.
    public var lastCommit: UInt64 {
      get throws { UInt64(try CommitLog(database: database).last()) }
    }

    /// The row id that the last insert of this connection has made.
    public var lastInsertedRowID: Int64 { database.lastInsertedRow }

    /// How many rows the last insert, update or delete changed, not counting triggers.
    public var changedRowCount: Int { database.changedRowCount }
  }

  /// A row of a result.
  public struct Row: Hashable, Sendable {
    /// The names of the columns, shared by the rows of a result.
    final class Columns: Hashable, Sendable {
      let names: [String]
      let positions: [String: Int]

      static func == (left: Columns, right: Columns) -> Bool {
        left === right || left.names == right.names
      }

      func hash(into hasher: inout Hasher) { hasher.combine(names) }

      init(of statement: SQLiteStatement) {
        names = statement.columnNames
        positions = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
      }
    }

    private let columns: Columns

    /// The fields, from left to right.
    public let fields: [SQLiteField]

    fileprivate init(_ columns: Columns, _ statement: SQLiteStatement) {
      self.columns = columns
      fields = columns.names.indices.map { statement.field(Int32($0)) }
    }

    /// The names of the columns, from left to right.
    public var columnNames: [String] { columns.names }

    /// Returns the value of a column.
    ///
    /// - Parameters:
    ///   - column: the name of the column, case-sensitive; if there are several, the first is used.
    ///   - type: the type to read it as.
    /// - Returns: the value; `nil` if it is NULL or of another type, or there is no such column.
    public subscript<Value: SQLiteValue>(
      _ column: String, as type: Value.Type = Value.self
    ) -> Value? {
      columns.positions[column].flatMap { Value(field: fields[$0]) }
    }

    /// Returns what stands in a column, where it has to be.
    ///
    /// - Parameters:
    ///   - column: the name of the column, the first one if there are several.
    ///   - type: the type to read it as.
    /// - Returns: the value.
    /// - Throws: ``WormholeError/decoding`` if there is no such column, or it holds another
    ///   type.
    public func value<Value: SQLiteValue>(
      _ column: String, as type: Value.Type = Value.self
    ) throws -> Value {
      let field = try field(column)
      guard let value = Value(field: field) else {
        throw WormholeError.decoding(
          "the column \(column) holds \(field.inWords), expected \(Value.self)")
      }
      return value
    }

    /// Returns what stands in a column that may be NULL.
    ///
    /// - Parameters:
    ///   - column: the name of the column, the first one if there are several.
    ///   - type: the type to read it as.
    /// - Returns: the value; `nil` for NULL.
    /// - Throws: ``WormholeError/decoding`` if there is no such column, or it holds another
    ///   type.
    public func optional<Value: SQLiteValue>(
      _ column: String, as type: Value.Type = Value.self
    ) throws -> Value? {
      try field(column) == .null ? nil : value(column)
    }

    func field(_ column: String) throws(WormholeError) -> SQLiteField {
      guard let position = columns.positions[column] else {
        throw .decoding(
          "there is no column \(column), but \(columns.names.joined(separator: ", "))")
      }
      return fields[position]
    }
  }
}
