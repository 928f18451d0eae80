import CSQLite
import Foundation
import Synchronization

/// The SQLite database. Its single connection is used by one transaction at a time.
final class Database: Sendable {
  /// The path of the database file.
  let path: String
  /// The connection; `nil` when closed.
  private let connection: Mutex<DatabaseConnection?>
  /// The folder of a temporary database, removed on close.
  private let temporaryFolder: URL?

  /// Opens the database and creates its tables.
  ///
  /// - Parameter path: the path of the database file; `nil` for a temporary one.
  init(path: String?) throws {
    if let path {
      temporaryFolder = nil
      self.path = path
    } else {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backend-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      temporaryFolder = folder
      self.path = folder.appendingPathComponent("backend.sqlite").path
    }
    connection = Mutex(try DatabaseConnection(path: self.path, schema: Schema.tables))
  }

  /// Runs a closure in a transaction that reads only.
  func read<Value: Sendable>(_ body: @Sendable (DatabaseConnection) throws -> Value) async throws -> Value {
    try transaction("BEGIN", body)
  }

  /// Runs a closure in a transaction, which is rolled back if the closure throws an error.
  func write<Value: Sendable>(_ body: @Sendable (DatabaseConnection) throws -> Value) async throws -> Value {
    try transaction("BEGIN IMMEDIATE", body)
  }

  /// Closes the database. A temporary database is removed.
  func close() {
    connection.withLock { $0 = nil }
    if let temporaryFolder {
      try? FileManager.default.removeItem(at: temporaryFolder)
    }
  }

  private func transaction<Value: Sendable>(
    _ begin: String, _ body: @Sendable (DatabaseConnection) throws -> Value
  ) throws -> Value {
    try connection.withLock { connection in
      guard let connection else { throw DatabaseError.closed }
      try connection.execute(begin)
      do {
        let value = try body(connection)
        try connection.execute("COMMIT")
        return value
      } catch {
        try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }
}

/// An error of SQLite.
struct DatabaseError: Error, Equatable {
  /// The extended result code for a violated unique constraint.
  static let notUnique: Int32 = 2067
  static let closed = DatabaseError(code: SQLITE_MISUSE, message: "the database is closed")

  /// SQLite's extended result code.
  let code: Int32
  let message: String
}

/// An open connection to a database.
final class DatabaseConnection {
  private let handle: OpaquePointer

  /// - Parameter schema: statements that are executed first.
  init(path: String, schema: String) throws(DatabaseError) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard let opened else { throw DatabaseError(code: code, message: "no memory") }
    handle = opened
    guard code == SQLITE_OK else { throw error }
    sqlite3_extended_result_codes(handle, 1)
    // Another process may hold the file's lock for a short time.
    sqlite3_busy_timeout(handle, 5000)
    // With a write-ahead log a transaction does not wait for the disk.
    for sql in ["PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", schema] {
      guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error }
    }
  }

  deinit {
    // A statement may outlive the connection.
    sqlite3_close_v2(handle)
  }

  /// The last error.
  fileprivate var error: DatabaseError {
    DatabaseError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
  }

  /// The id of the last inserted row.
  var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The number of rows that the last statement changed.
  var changesCount: Int { Int(sqlite3_changes(handle)) }

  /// Prepares a statement that is executed several times.
  func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw error }
    return Statement(statement, of: self)
  }

  /// Executes a statement.
  func execute(_ sql: String, _ arguments: [any ColumnConvertible] = []) throws(DatabaseError) {
    _ = try prepare(sql).execute(arguments)
  }

  /// Returns the rows of a statement.
  func rows(_ sql: String, _ arguments: [any ColumnConvertible] = []) throws(DatabaseError) -> [Row] {
    try prepare(sql).execute(arguments)
  }

  /// Returns the values that are decoded from the rows of a statement.
  func all<Value: RowConvertible>(_ sql: String, _ arguments: [any ColumnConvertible] = []) throws -> [Value] {
    try rows(sql, arguments).map(Value.init(row:))
  }

  /// Returns the value that is decoded from the first row of a statement; `nil` without a row.
  func first<Value: RowConvertible>(_ sql: String, _ arguments: [any ColumnConvertible] = []) throws -> Value? {
    try rows(sql, arguments).first.map(Value.init(row:))
  }

  /// Returns the number in the column `value` of the first row; 0 without a row and for `NULL`.
  func number(_ sql: String, _ arguments: [any ColumnConvertible] = []) throws -> Int {
    try rows(sql, arguments).first.flatMap { try $0.get("value") as Int? } ?? 0
  }
}

/// A prepared statement.
final class Statement {
  private let handle: OpaquePointer
  private let connection: DatabaseConnection

  fileprivate init(_ handle: OpaquePointer, of connection: DatabaseConnection) {
    (self.handle, self.connection) = (handle, connection)
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Executes the statement with values for its parameters. Returns its rows.
  @discardableResult
  func execute(_ arguments: [any ColumnConvertible]) throws(DatabaseError) -> [Row] {
    defer { sqlite3_reset(handle) }
    for (index, argument) in zip(Int32(1)..., arguments) {
      guard bind(argument.column, to: index) == SQLITE_OK else { throw connection.error }
    }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: rows.append(row)
      case SQLITE_DONE: return rows
      default: throw connection.error
      }
    }
  }

  private func bind(_ value: ColumnValue, to index: Int32) -> Int32 {
    // `SQLITE_TRANSIENT`: SQLite copies texts and bytes.
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .real(let number): return sqlite3_bind_double(handle, index, number)
    case .text(let text): return sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), copied)
    case .bytes(let data):
      return data.withUnsafeBytes { sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), copied) }
    }
  }

  private var row: Row {
    var values: [String: ColumnValue] = [:]
    for index in 0..<sqlite3_column_count(handle) {
      guard let name = sqlite3_column_name(handle, index) else { continue }
      values[String(cString: name)] = value(at: index)
    }
    return Row(values: values)
  }

  private func value(at index: Int32) -> ColumnValue {
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
    case SQLITE_NULL: return .null
    default:
      let bytes = UnsafeRawBufferPointer(
        start: sqlite3_column_blob(handle, index), count: Int(sqlite3_column_bytes(handle, index)))
      let isText = sqlite3_column_type(handle, index) == SQLITE_TEXT
      return isText ? .text(String(decoding: bytes, as: UTF8.self)) : .bytes(Data(bytes))
    }
  }
}
