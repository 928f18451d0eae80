import Foundation

/// A value of a column in SQLite.
enum ColumnValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes(Data)
}

/// A type whose values are stored in columns.
protocol ColumnConvertible: Sendable {
  var column: ColumnValue { get }

  /// Returns a column's value; `nil` when the column has another type.
  static func value(of column: ColumnValue) -> Self?
}

/// A type whose values are decoded from rows.
protocol RowConvertible {
  init(row: Row) throws
}

/// A row of a result.
struct Row: Sendable {
  /// The error of a column that is missing, or whose value has another type.
  struct InvalidColumn: Error, Equatable {
    let name: String
  }

  let values: [String: ColumnValue]

  /// Returns the value of a column.
  func get<Value: ColumnConvertible>(_ name: String) throws(InvalidColumn) -> Value {
    guard let column = values[name], let value = Value.value(of: column) else { throw InvalidColumn(name: name) }
    return value
  }
}

extension Int64: ColumnConvertible {
  var column: ColumnValue { .integer(self) }

  static func value(of column: ColumnValue) -> Int64? {
    if case .integer(let number) = column { number } else { nil }
  }
}

extension Int: ColumnConvertible {
  var column: ColumnValue { .integer(Int64(self)) }

  static func value(of column: ColumnValue) -> Int? { Int64.value(of: column).map(Int.init) }
}

extension Double: ColumnConvertible {
  var column: ColumnValue { .real(self) }

  static func value(of column: ColumnValue) -> Double? {
    switch column {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

extension String: ColumnConvertible {
  var column: ColumnValue { .text(self) }

  static func value(of column: ColumnValue) -> String? {
    if case .text(let text) = column { text } else { nil }
  }
}

extension Data: ColumnConvertible {
  var column: ColumnValue { .bytes(self) }

  static func value(of column: ColumnValue) -> Data? {
    if case .bytes(let data) = column { data } else { nil }
  }
}

extension Optional: ColumnConvertible where Wrapped: ColumnConvertible {
  var column: ColumnValue { self?.column ?? .null }

  static func value(of column: ColumnValue) -> Wrapped?? {
    if case .null = column { return .some(nil) }
    return Wrapped.value(of: column).map { .some($0) }
  }
}
