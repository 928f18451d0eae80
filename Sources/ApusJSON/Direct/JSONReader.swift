/// A reader of a JSON text (RFC 8259), from its start to its end, for types that read themselves.
///
/// ```swift
/// struct Film: Codable, JSONReadable {
///   var id: Int
///   var title: String
///
///   init(id: Int, title: String) { (self.id, self.title) = (id, title) }
///
///   init(from reader: inout JSONReader) throws {
///     var id: Int?
///     var title: String?
///     try reader.beginObject()
///     while try reader.nextMember() {
///       if reader.isAt("id") {
///         try reader.read(into: &id)
///       } else if reader.isAt("title") {
///         try reader.read(into: &title)
///       } else {
///         try reader.skip()
///       }
///     }
///     self.init(id: try reader.require(id, "id"), title: try reader.require(title, "title"))
///   }
/// }
/// ```
///
/// ``JSONCoding`` reads such types instead of decoding them, in about half the time of `Codable`. Every value must be
/// read or skipped, in the order of the text.
///
/// For a text with a single fault, reading throws the same error as decoding. Every duplicate of a member is read; the
/// last duplicate is used.
public struct JSONReader: ~Copyable {
  var cursor: JSONCursor
  let coding: JSONCoding
  private(set) var depth: Int
  private(set) var stack: StackBudget
  /// Whether nothing has been read from the innermost container.
  private var isFirst = false
  private var nameStart = 0
  @usableFromInline var nameLength = 0
  /// The first eight bytes of the name, with the first byte in the lowest bits; a shorter name is padded with zeros.
  @usableFromInline var nameHead: UInt64 = 0
  private var isNameEscaped = false
  /// Whether the name has escapes or is converted.
  @usableFromInline var isNameDifferent = false

  init(_ cursor: JSONCursor, _ coding: JSONCoding, depth: Int, stack: StackBudget = StackBudget()) {
    (self.cursor, self.coding, self.depth, self.stack) = (cursor, coding, depth, stack)
  }

  // MARK: Containers

  /// Opens an object. Read its members with ``nextMember()``.
  ///
  /// - Throws: an error that ``JSONCoding/decode(_:from:)`` converts to a `DecodingError` if the next value is not an
  ///   object, or to a ``JSONError`` if the text is malformed. The same applies to all functions of a reader.
  public mutating func beginObject() throws {
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: "{") else { throw mismatch([String: Any].self) }
    try open()
  }

  /// Opens an array. Read its elements with ``nextElement()``.
  public mutating func beginArray() throws {
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: "[") else { throw mismatch([Any].self) }
    try open()
  }

  private mutating func open() throws {
    if depth >= StackBudget.unmeasuredDepth { try checkStack() }
    depth += 1
    isFirst = true
    cursor.offset += 1
  }

  @inline(never) private mutating func checkStack() throws {
    guard depth < JSONLimits.maximumModelDepth, !stack.isExhausted() else { throw cursor.error(.tooDeep) }
  }

  /// Advances to the next member of the object and reads its name. At the end, closes the object and returns `false`.
  public mutating func nextMember() throws -> Bool {
    guard try advance(until: UInt8(ascii: "}")) else { return false }
    guard cursor.byte(cursor.offset) == UInt8(ascii: "\"") else { throw cursor.unexpected }
    let (start, isEscaped, isASCII) = try cursor.string()
    (nameStart, nameLength) = (start, cursor.offset - 1 - start)
    nameHead = cursor.load(start) & (nameLength < 8 ? 1 << UInt64(nameLength * 8) - 1 : .max)
    isNameEscaped = isEscaped
    isNameDifferent = isEscaped || coding.keys != .unchanged
    if !isASCII || isEscaped, nameLength > 256 { try cursor.checkMarks(start, nameLength) }
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: ":") else { throw cursor.unexpected }
    cursor.offset += 1
    // Errors have the position of the value.
    cursor.skipWhitespace()
    return true
  }

  /// Advances to the next element of the array. At the end, closes the array and returns `false`.
  public mutating func nextElement() throws -> Bool {
    try advance(until: UInt8(ascii: "]"))
  }

  @inline(__always) private mutating func advance(until end: UInt8) throws -> Bool {
    cursor.skipWhitespace()
    let byte = cursor.byte(cursor.offset)
    if byte == end {
      cursor.offset += 1
      depth -= 1
      isFirst = false
      return false
    }
    if isFirst {
      isFirst = false
      return true
    }
    guard byte == UInt8(ascii: ",") else { throw cursor.unexpected }
    cursor.offset += 1
    cursor.skipWhitespace()
    return true
  }

  /// Whether the current member's name equals a name, compared byte by byte. In a coding with snake-case keys the
  /// member's name is converted.
  ///
  /// Marked `mutating` although it changes nothing, because otherwise the compiler copies the reader for each call.
  @inlinable public mutating func isAt(_ name: StaticString) -> Bool {
    guard nameLength == name.utf8CodeUnitCount, nameHead == Self.head(of: name), !isNameDifferent else {
      return isNameDifferent && isDifferentName(name)
    }
    return nameLength <= 8 || isRestOfName(name)
  }

  /// Returns the first eight bytes of a name; evaluated at compile time for a literal in an optimized build.
  @inlinable @inline(__always) static func head(of name: StaticString) -> UInt64 {
    var (head, index): (UInt64, Int) = (0, 0)
    while index < 8, index < name.utf8CodeUnitCount {
      head |= UInt64(name.utf8Start[index]) << UInt64(index * 8)
      index += 1
    }
    return head
  }

  @usableFromInline mutating func isRestOfName(_ name: StaticString) -> Bool {
    let (one, other, count) = (cursor.text + nameStart, UnsafeRawPointer(name.utf8Start), nameLength)
    var index = 8
    while index < count {
      // The last eight bytes may overlap bytes that were compared before.
      let offset = min(index, count - 8)
      guard
        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      index += 8
    }
    return true
  }

  @usableFromInline mutating func isDifferentName(_ name: StaticString) -> Bool {
    if !isNameEscaped, let isEqual = SnakeCase.isEqual(nameBytes, toCamelCase: name.description) { return isEqual }
    return memberName == name.description
  }

  private var nameBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: cursor.text + nameStart, count: nameLength)
  }

  /// The name of the current member; in a coding with snake-case keys, the converted name.
  public var memberName: String {
    coding.keys == .snakeCase ? writtenName.camelCased : writtenName
  }

  /// The name of the current member as written in the text.
  @usableFromInline var writtenName: String {
    JSONEscape.string(nameBytes)
  }

  // MARK: Values

  /// Reads a value of any type that can be read.
  @inlinable public mutating func read<Value: JSONReadable>(_ type: Value.Type) throws -> Value {
    try Value(from: &self)
  }

  /// Reads a value that must not be `null`.
  @inlinable public mutating func read<Value: JSONReadable>(into value: inout Value?) throws {
    value = try Value(from: &self)
  }

  /// Reads a value, or `null` as `nil`.
  @inlinable public mutating func readIfPresent<Value: JSONReadable>(into value: inout Value?) throws {
    value = try readNull() ? nil : Value(from: &self)
  }

  /// Decodes a value that must not be `null`, of a type that cannot read itself.
  @_disfavoredOverload @inlinable
  public mutating func read<Value: Decodable>(into value: inout Value?) throws {
    value = try decode(Value.self)
  }

  /// Decodes a value of a type that cannot read itself, or reads `null` as `nil`.
  @_disfavoredOverload @inlinable
  public mutating func readIfPresent<Value: Decodable>(into value: inout Value?) throws {
    value = try readNull() ? nil : decode(Value.self)
  }

  /// Reads a `null` if it is the next value. Otherwise returns `false` and reads nothing.
  public mutating func readNull() throws -> Bool {
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: "n") else { return false }
    _ = try cursor.literal()
    return true
  }

  /// Skips a value, which is validated.
  public mutating func skip() throws {
    // For each open container: whether the container is an object.
    var open: [Bool] = []
    repeat {
      cursor.skipWhitespace()
      switch cursor.byte(cursor.offset) {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard depth + open.count < JSONLimits.maximumDepth else { throw cursor.error(.tooDeep) }
        open.append(cursor.byte(cursor.offset) == UInt8(ascii: "{"))
        cursor.offset += 1
        isFirst = true
      case UInt8(ascii: "\""): _ = try cursor.string()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try cursor.number()
      default: _ = try cursor.literal()
      }
      while let isObject = open.last {
        depth += 1
        guard try isObject ? nextMember() : nextElement() else {
          open.removeLast()
          continue
        }
        depth -= 1
        break
      }
    } while !open.isEmpty
  }

  // MARK: Errors

  /// Returns the value of a member, or throws the error for a missing key.
  ///
  /// Call it after ``nextMember()`` has returned `false`, for the object that was just closed.
  @inlinable public mutating func require<Value>(_ value: consuming Value?, _ name: StaticString) throws -> Value {
    guard let value else { throw missing(name) }
    return value
  }

  @usableFromInline mutating func missing(_ name: StaticString) -> any Error {
    JSONReadError(.missing(name.description), at: cursor.offset - 1)
  }

  /// Returns an error for the next value, such as for text that the type does not accept.
  ///
  /// - Parameter reason: the reason, as the start of a sentence and without values of the text.
  public func error(_ reason: String) -> any Error { JSONReadError(.corrupted(reason, nil), at: cursor.offset) }

  /// Returns an error for the object that ``nextMember()`` has just closed, such as for members that contradict each
  /// other.
  ///
  /// - Parameter reason: the reason, as the start of a sentence and without values of the text.
  public func objectError(_ reason: String) -> any Error { JSONReadError(.object(reason), at: cursor.offset - 1) }

  func mismatch(_ type: Any.Type) -> any Error { JSONReadError(.mismatch(type), at: cursor.offset) }
}

/// An error of a reader, before the coding path is known.
struct JSONReadError: Error {
  enum Reason {
    case mismatch(Any.Type)
    case unrepresentable(Any.Type)
    case missing(String)
    case object(String)
    case corrupted(String, (any Error)?)
    case decoding(DecodingError)
  }

  let reason: Reason
  /// The offset of the value, or of the end of an object whose members are wrong.
  let offset: Int

  init(_ reason: Reason, at offset: Int) { (self.reason, self.offset) = (reason, offset) }
}
