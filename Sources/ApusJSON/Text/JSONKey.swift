/// A coding key of a value that was found in a JSON text.
package struct JSONKey: CodingKey {
  package let stringValue: String
  package let intValue: Int?
  /// Whether the key is a case of an enum in source code, in contrast to a key from the text.
  package let isWrittenInSource: Bool

  package init(_ name: String, isWrittenInSource: Bool = false) {
    (stringValue, intValue, self.isWrittenInSource) = (name, nil, isWrittenInSource)
  }

  init(index: Int) {
    (stringValue, intValue, isWrittenInSource) = ("Index \(index)", index, false)
  }

  package init(stringValue: String) { self.init(stringValue) }
  package init?(intValue: Int) { self.init(index: intValue) }
}

/// The location of a value in a JSON text, used as the underlying error of decoding errors.
public struct JSONLocation: Error, Sendable, CustomStringConvertible {
  /// The offset of the value's first byte, from 0. For a missing key, the offset of the object.
  public let offset: Int
  /// The line, from 1.
  public let line: Int
  /// The column, from 1. Columns count bytes.
  public let column: Int
  /// The error of a function that converts the value, such as a custom date format, or `nil`.
  public let cause: (any Error)?

  init(offset: Int, line: Int, column: Int, cause: (any Error)?) {
    (self.offset, self.line, self.column, self.cause) = (offset, line, column, cause)
  }

  /// The location, such as `line 3, column 14, byte 40`.
  public var description: String { "line \(line), column \(column), byte \(offset)" }
}
