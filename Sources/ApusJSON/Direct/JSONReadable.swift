/// A type that reads itself from a JSON text, instead of being decoded.
///
/// Types of the standard library and of Foundation that JSON can represent conform. See ``JSONReader`` for an example.
public protocol JSONReadable {
  /// Reads a value.
  init(from reader: inout JSONReader) throws
}

extension Bool: JSONReadable {
  /// Reads `true` or `false`.
  public init(from reader: inout JSONReader) throws { self = try reader.bool() }
}

extension String: JSONReadable {
  /// Reads a string.
  public init(from reader: inout JSONReader) throws { self = try reader.string() }
}

extension Int: JSONReadable {
  /// Reads a number whose value is an integer.
  public init(from reader: inout JSONReader) throws { self = try reader.int() }
}

extension Double: JSONReadable {
  /// Reads a number.
  public init(from reader: inout JSONReader) throws { self = try reader.double() }
}

extension Float: JSONReadable {
  /// Reads a number.
  public init(from reader: inout JSONReader) throws { self = try reader.float() }
}

extension JSONReadable where Self: FixedWidthInteger {
  /// Reads a number whose value is an integer in the range of the type.
  public init(from reader: inout JSONReader) throws { self = try reader.integer(Self.self) }
}

extension Int8: JSONReadable {}
extension Int16: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}
extension Int128: JSONReadable {}
extension UInt: JSONReadable {}
extension UInt8: JSONReadable {}
extension UInt16: JSONReadable {}
extension UInt32: JSONReadable {}
extension UInt64: JSONReadable {}
extension UInt128: JSONReadable {}

extension JSONNumber: JSONReadable {
  /// Reads a number with all its digits.
  public init(from reader: inout JSONReader) throws { self = try reader.jsonNumber() }
}

extension JSONValue: JSONReadable {
  /// Reads any value.
  public init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
}

extension JSONReadable where Self: RawRepresentable, RawValue: JSONReadable {
  /// Reads the raw value.
  public init(from reader: inout JSONReader) throws {
    let start = reader.cursor.offset
    guard let value = Self(rawValue: try RawValue(from: &reader)) else {
      throw JSONReadError(.corrupted("The value is no case of \(Self.self)", nil), at: start)
    }
    self = value
  }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
  /// Reads a value, or `null` as `nil`.
  @inlinable public init(from reader: inout JSONReader) throws {
    self = try reader.readNull() ? nil : Wrapped(from: &reader)
  }
}

extension Array: JSONReadable where Element: JSONReadable {
  /// Reads an array.
  @inlinable public init(from reader: inout JSONReader) throws {
    self.init()
    try reader.beginArray()
    while try reader.nextElement() { append(try Element(from: &reader)) }
  }
}

extension Set: JSONReadable where Element: JSONReadable {
  /// Reads an array.
  @inlinable public init(from reader: inout JSONReader) throws { self.init(try [Element](from: &reader)) }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
  /// Reads an object. No key strategy converts its names.
  @inlinable public init(from reader: inout JSONReader) throws {
    self.init()
    try reader.beginObject()
    while try reader.nextMember() {
      let name = reader.writtenName
      self[name] = try Value(from: &reader)
    }
  }
}
