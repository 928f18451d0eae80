extension JSONValue {
  /// Parses a JSON text in UTF-8 (RFC 8259).
  ///
  /// Strict: no comments, trailing commas, leading zeros, bytes after the value, invalid UTF-8 or lone surrogates. A
  /// leading byte order mark is ignored. Of members with the same name the last one is used.
  ///
  /// - Parameters:
  ///   - bytes: the text; pass the `utf8` of a string.
  ///   - limits: the limits. Default: 512 levels, any number of bytes.
  /// - Throws: ``JSONError``.
  public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .default) throws(JSONError) {
    self = try Self.parse(bytes, limits, isWanted: nil)
  }

  /// Parses a JSON text in UTF-8, keeping only some members of a top-level object.
  ///
  /// The whole text is validated as by ``init(parsing:limits:)``, but other members are not stored.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - limits: the limits. Default: 512 levels, any number of bytes.
  ///   - isWanted: returns whether to keep the member with a name.
  /// - Throws: ``JSONError``.
  public init(
    parsing bytes: some Collection<UInt8>, limits: JSONLimits = .default, keeping isWanted: (String) -> Bool
  ) throws(JSONError) {
    self = try withoutActuallyEscaping(isWanted) { isWanted throws(JSONError) in
      try Self.parse(bytes, limits, isWanted: isWanted)
    }
  }

  private static func parse(
    _ bytes: some Collection<UInt8>, _ limits: JSONLimits, isWanted: ((String) -> Bool)?
  ) throws(JSONError) -> JSONValue {
    if let greatest = limits.bytes, bytes.count > greatest { throw JSONError(.tooLarge, at: greatest) }
    let read = { (bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONError> in
      var parser = JSONParser(bytes, limits: limits, isWanted: isWanted)
      return Result { () throws(JSONError) in try parser.parse() }
    }
    return try (bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)).get()
  }
}

/// A parser of JSON texts (RFC 8259) into values.
///
/// It keeps its own stack instead of recursing, so that deep nesting costs heap memory up to the limit and none of the
/// thread's stack. Finished values are kept on one flat stack; a closing container takes its elements off the end, so
/// that nothing is copied twice.
struct JSONParser {
  /// An array or object that is not closed yet.
  private struct Frame {
    let isObject: Bool
    /// The index of its first value on the stack.
    let start: Int
  }

  /// The tokens that are allowed next.
  private enum State {
    case value
    /// A value, or the end of an empty array.
    case firstElement
    /// A key, or the end of an empty object.
    case firstKey
    case key
    /// A comma, or the end of the container.
    case afterValue
  }

  private var scanner: JSONScanner
  private let limits: JSONLimits
  private let isWanted: ((String) -> Bool)?
  private var frames: [Frame] = []
  private var values: [JSONValue] = []
  private var keys: [String] = []
  private var state = State.value
  /// The depth of the unwanted member that is being skipped, if any.
  private var skippedDepth: Int?

  /// - Parameter isWanted: returns whether to keep a member of the top-level object; `nil` keeps all. Other members are
  ///   only validated.
  init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, isWanted: ((String) -> Bool)? = nil) {
    scanner = JSONScanner(bytes)
    self.limits = limits
    self.isWanted = isWanted
  }

  mutating func parse() throws(JSONError) -> JSONValue {
    scanner.skipByteOrderMark()
    repeat {
      scanner.skipWhitespace()
      try step()
    } while !frames.isEmpty
    scanner.skipWhitespace()
    guard scanner.next == nil else { throw scanner.error(.trailingBytes) }
    return values.popLast() ?? .null
  }

  private mutating func step() throws(JSONError) {
    switch state {
    case .firstElement where scanner.take(UInt8(ascii: "]")): close()
    case .firstKey where scanner.take(UInt8(ascii: "}")): close()
    case .value, .firstElement: try value()
    case .key, .firstKey: try key()
    case .afterValue: try separator()
    }
  }

  private mutating func separator() throws(JSONError) {
    let isObject = frames.last?.isObject ?? false
    if scanner.take(UInt8(ascii: ",")) {
      state = isObject ? .key : .value
    } else if scanner.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      close()
    } else {
      throw scanner.unexpected
    }
  }

  private mutating func key() throws(JSONError) {
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.unexpected }
    let start = scanner.offset
    let key = try scanner.string()
    guard !key.hasLongRunOfMarks else { throw JSONError(.tooManyCombiningMarks, at: start) }
    if skippedDepth == nil {
      if frames.count == 1, let isWanted, !isWanted(key) { skippedDepth = 1 } else { keys.append(key) }
    }
    scanner.skipWhitespace()
    guard scanner.take(UInt8(ascii: ":")) else { throw scanner.unexpected }
    state = .value
  }

  private mutating func value() throws(JSONError) {
    switch scanner.next {
    case UInt8(ascii: "{"): try open(isObject: true)
    case UInt8(ascii: "["): try open(isObject: false)
    case UInt8(ascii: "\""):
      if skippedDepth == nil { finish(.string(try scanner.string())) } else { try scanner.skipString() }
      ended()
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
      if skippedDepth == nil { finish(.number(try scanner.number())) } else { try scanner.skipNumber() }
      ended()
    case UInt8(ascii: "t"): try literal("true", .bool(true))
    case UInt8(ascii: "f"): try literal("false", .bool(false))
    case UInt8(ascii: "n"): try literal("null", .null)
    default: throw scanner.unexpected
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) {
    try scanner.literal(text)
    finish(value)
    ended()
  }

  private mutating func open(isObject: Bool) throws(JSONError) {
    guard frames.count < limits.depth else { throw scanner.error(.tooDeep) }
    scanner.advance()
    frames.append(Frame(isObject: isObject, start: values.count))
    state = isObject ? .firstKey : .firstElement
  }

  private mutating func close() {
    guard let frame = frames.popLast() else { return }
    if skippedDepth == nil {
      let value: JSONValue =
        frame.isObject ? .object(members(from: frame.start)) : .array(Array(values[frame.start...]))
      // The stack must be uniquely referenced here, or each closing container copies all of it.
      values.removeLast(values.count - frame.start)
      values.append(value)
    }
    ended()
  }

  /// Takes the names of an object's members off their stack. Of members with the same name the last one is used, as in
  /// most parsers.
  private mutating func members(from start: Int) -> [String: JSONValue] {
    let count = values.count - start
    let firstKey = keys.count - count
    var members = [String: JSONValue](minimumCapacity: count)
    for index in 0..<count { members[keys[firstKey + index]] = values[start + index] }
    keys.removeLast(count)
    return members
  }

  private mutating func finish(_ value: JSONValue) {
    if skippedDepth == nil { values.append(value) }
  }

  /// Continues after a complete value.
  private mutating func ended() {
    if skippedDepth == frames.count { skippedDepth = nil }
    state = .afterValue
  }
}

extension String {
  /// Whether the text has so many consecutive combining marks that comparing and hashing it is too slow: normalization
  /// sorts them in quadratic time.
  fileprivate var hasLongRunOfMarks: Bool {
    guard utf8.count > 256 else { return false }
    var marks = 0
    for scalar in unicodeScalars {
      guard scalar.value >= 0x300 else {
        marks = 0
        continue
      }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: marks += 1
      default: marks = 0
      }
      if marks > 128 { return true }
    }
    return false
  }
}
