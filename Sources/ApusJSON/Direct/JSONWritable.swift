/// A type that writes itself into a JSON text, instead of being encoded.
///
/// Types of the standard library and of Foundation that JSON can represent conform. See ``JSONWriter`` for an example.
public protocol JSONWritable {
  /// Writes the value.
  func write(to writer: inout JSONWriter) throws
}

extension Bool: JSONWritable {
  /// Writes `true` or `false`.
  public func write(to writer: inout JSONWriter) { writer.text.append(self ? "true" : "false") }
}

extension String: JSONWritable {
  /// Writes a string.
  public func write(to writer: inout JSONWriter) { writer.text.append(quoted: self) }
}

extension Int: JSONWritable {
  /// Writes a number.
  public func write(to writer: inout JSONWriter) { writer.text.append(Int64(self)) }
}

extension Double: JSONWritable {
  /// Writes a number with the fewest digits that represent it.
  public func write(to writer: inout JSONWriter) throws {
    guard isFinite else { return try writer.encode(self) }
    writer.text.append(number: self)
  }
}

extension Float: JSONWritable {
  /// Writes a number with the fewest digits that represent it.
  public func write(to writer: inout JSONWriter) throws {
    guard isFinite else { return try writer.encode(self) }
    writer.text.append(number: self)
  }
}

extension JSONWritable where Self: FixedWidthInteger {
  /// Writes a number.
  public func write(to writer: inout JSONWriter) {
    if let value = Int64(exactly: self) {
      writer.text.append(value)
    } else {
      writer.text.append(unquoted: String(self))
    }
  }
}

extension Int8: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension Int128: JSONWritable {}
extension UInt: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}
extension UInt128: JSONWritable {}

extension JSONNumber: JSONWritable {
  /// Writes a number with all its digits.
  public func write(to writer: inout JSONWriter) { writer.text.append(unquoted: description) }
}

extension JSONValue: JSONWritable {
  /// Writes any value.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

extension JSONWritable where Self: RawRepresentable, RawValue: JSONWritable {
  /// Writes the raw value.
  public func write(to writer: inout JSONWriter) throws { try rawValue.write(to: &writer) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  /// Writes the value, or `null`.
  @inlinable public func write(to writer: inout JSONWriter) throws {
    if let self { try self.write(to: &writer) } else { writer.writeNull() }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  /// Writes an array.
  @inlinable public func write(to writer: inout JSONWriter) throws {
    writer.beginArray()
    try writer.requireDepth()
    for element in self {
      writer.beginElement()
      try element.write(to: &writer)
    }
    writer.endArray()
  }
}

extension Set: JSONWritable where Element: JSONWritable {
  /// Writes an array, in no particular order.
  @inlinable public func write(to writer: inout JSONWriter) throws { try Array(self).write(to: &writer) }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
  /// Writes an object with the members sorted by name. No key strategy converts the names.
  @inlinable public func write(to writer: inout JSONWriter) throws {
    writer.beginObject()
    try writer.requireDepth()
    for (name, value) in sorted(by: { $0.key < $1.key }) {
      writer.beginMember(writtenName: name)
      try value.write(to: &writer)
    }
    writer.endObject()
  }
}
