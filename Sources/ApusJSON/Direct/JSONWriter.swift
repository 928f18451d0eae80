/// A writer of a JSON text, from its start to its end, for types that write themselves.
///
/// ```swift
/// struct Place: Codable, JSONWritable {
///   var name: String
///   var floor: Int?
///
///   func write(to writer: inout JSONWriter) throws {
///     writer.beginObject()
///     try writer.write(floor, as: "floor")
///     try writer.write(name, as: "name")
///     writer.endObject()
///   }
/// }
/// ```
///
/// ``JSONCoding`` writes such types instead of encoding them, which is faster. Members are written in the order of the
/// calls. To get the same bytes as with encoding, write the members in the order of their names. If a value throws, it
/// is encoded instead, so that its `Encodable` conformance determines the error.
public struct JSONWriter: ~Copyable {
  var text: JSONText
  let coding: JSONCoding
  private(set) var depth = 0
  private(set) var stack = StackBudget()
  /// Whether an open container is nested too deeply.
  @usableFromInline var isTooDeep = false
  /// Whether the innermost container has no value yet.
  private var isFirst = true
  /// Whether names are not converted and no white space is written.
  @usableFromInline let isPlain: Bool

  init(_ coding: JSONCoding) {
    text = JSONText(capacity: 512)
    self.coding = coding
    isPlain = coding.keys == .unchanged && !coding.isPrettyPrinted
  }

  // MARK: Containers

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  /// Closes an object.
  public mutating func endObject() { close(UInt8(ascii: "}")) }
  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }
  /// Closes an array.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  private mutating func open(_ byte: UInt8) {
    text.append(byte)
    depth += 1
    isFirst = true
    if depth > StackBudget.unmeasuredDepth, stack.isExhausted() { isTooDeep = true }
  }

  /// Throws if the values of the current container are nested too deeply. The functions that open containers do not
  /// throw.
  @inlinable mutating func requireDepth() throws {
    if isTooDeep { throw tooDeep }
  }

  @usableFromInline var tooDeep: any Error { JSONError(.tooDeep, at: text.count) }

  private mutating func close(_ byte: UInt8) {
    depth = max(0, depth - 1)
    if coding.isPrettyPrinted {
      if isFirst { text.append(UInt8(ascii: "\n")) }
      newLine()
    }
    text.append(byte)
    isFirst = false
  }

  private mutating func newLine() {
    text.append(UInt8(ascii: "\n"))
    for _ in 0..<depth { text.append("  ") }
  }

  /// Starts an element of an array, before its value is written.
  public mutating func beginElement() {
    if isFirst { isFirst = false } else { text.append(UInt8(ascii: ",")) }
    if coding.isPrettyPrinted { newLine() }
  }

  /// Starts a member of an object with a name that no key strategy converts, before its value is written.
  @usableFromInline mutating func beginMember(writtenName name: String) {
    beginElement()
    text.append(quoted: name)
    endName()
  }

  /// Starts a member of an object, before its value is written.
  @inlinable public mutating func beginMember(_ name: StaticString) {
    // For a literal, both values are evaluated at compile time in an optimized build.
    guard name.utf8CodeUnitCount <= 16, let words = Self.words(of: name) else { return beginLongMember(name) }
    if isPlain { beginMember(words.0, words.1, name.utf8CodeUnitCount) } else { beginLongMember(name) }
  }

  /// Returns the bytes of a short name, with the first byte in the lowest bits of the first word. `nil` for a name that
  /// needs escapes.
  @inlinable @inline(__always) static func words(of name: StaticString) -> (UInt64, UInt64)? {
    var (words, index): ((UInt64, UInt64), Int) = ((0, 0), 0)
    while index < 16, index < name.utf8CodeUnitCount {
      let byte = name.utf8Start[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return nil }
      if index < 8 {
        words.0 |= UInt64(byte) << UInt64(index * 8)
      } else {
        words.1 |= UInt64(byte) << UInt64(index * 8 - 64)
      }
      index += 1
    }
    return words
  }

  @usableFromInline mutating func beginMember(_ one: UInt64, _ two: UInt64, _ count: Int) {
    text.append(name: one, two, count, isFirst: isFirst)
    isFirst = false
  }

  @usableFromInline mutating func beginLongMember(_ name: StaticString) {
    if coding.keys == .snakeCase { return beginMember(writtenName: name.description.snakeCased) }
    beginElement()
    text.append(quoted: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    endName()
  }

  @inline(__always) private mutating func endName() {
    if coding.isPrettyPrinted { text.append(" : ") } else { text.append(UInt8(ascii: ":")) }
  }

  // MARK: Values

  /// Writes a member of an object.
  @inlinable public mutating func write<Value: JSONWritable>(_ value: Value, as name: StaticString) throws {
    try requireDepth()
    beginMember(name)
    try value.write(to: &self)
  }

  /// Writes a member of an object, unless the value is `nil`.
  @inlinable public mutating func write<Value: JSONWritable>(_ value: Value?, as name: StaticString) throws {
    guard let value else { return }
    try requireDepth()
    beginMember(name)
    try value.write(to: &self)
  }

  /// Encodes a member of an object, for a value whose type cannot write itself.
  @_disfavoredOverload @inlinable
  public mutating func write(_ value: some Encodable, as name: StaticString) throws {
    try requireDepth()
    beginMember(name)
    try encode(value)
  }

  /// Encodes a member of an object, for a value whose type cannot write itself, unless the value is `nil`.
  @_disfavoredOverload @inlinable
  public mutating func write(_ value: (some Encodable)?, as name: StaticString) throws {
    guard let value else { return }
    try requireDepth()
    beginMember(name)
    try encode(value)
  }

  /// Writes a value.
  @inlinable public mutating func write<Value: JSONWritable>(_ value: Value) throws {
    try requireDepth()
    try value.write(to: &self)
  }

  /// Writes `null`.
  public mutating func writeNull() { text.append("null") }

  /// Returns the text of a value.
  ///
  /// - Throws: `EncodingError`; errors of the type itself.
  static func write<Output>(
    _ value: some JSONWritable, _ coding: JSONCoding, _ copy: (UnsafeRawBufferPointer) -> Output
  ) throws -> Output {
    var writer = JSONWriter(coding)
    try value.write(to: &writer)
    return copy(writer.text.all)
  }
}
