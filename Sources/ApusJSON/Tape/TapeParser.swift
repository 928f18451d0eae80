/// A parser of JSON texts (RFC 8259) into a ``JSONTape``.
///
/// One pass validates the grammar, UTF-8, escapes, surrogates and nesting. Open containers are linked through the tape,
/// so deep nesting uses no stack.
struct TapeParser: ~Copyable {
  private var cursor: JSONCursor
  private let limits: JSONLimits
  private var words: UnsafeMutablePointer<UInt64>
  private var capacity: Int
  private var used = 0
  /// The position of the innermost open container, or 0.
  private var open = 0
  private var depth = 0

  /// Parses a text.
  ///
  /// - Throws: ``JSONError``.
  static func parse(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) -> JSONTape {
    let greatest = min(limits.bytes ?? JSONTape.maximumBytes, JSONTape.maximumBytes)
    if bytes.count > greatest { throw JSONError(.tooLarge, at: greatest) }
    let copy = JSONCursor.copy(bytes)
    let cursor = JSONCursor(text: UnsafeRawPointer(copy), count: bytes.count)
    var parser = TapeParser(cursor, limits: limits)
    do throws(JSONError) {
      try parser.run()
    } catch {
      parser.words.deallocate()
      defer { copy.deallocate() }
      throw cursor.isOtherEncoding(error) ? JSONError(.invalidUTF8, at: 0) : error
    }
    return JSONTape(bytes: cursor.text, byteCount: cursor.count, words: parser.words, wordCount: parser.used)
  }

  private init(_ cursor: JSONCursor, limits: JSONLimits) {
    (self.cursor, self.limits) = (cursor, limits)
    capacity = cursor.count / 8 + 16
    words = .allocate(capacity: capacity)
  }

  private mutating func run() throws(JSONError) {
    append(JSONWord(.literal, length: JSONLiteral.null.rawValue, high: 0))
    repeat {
      cursor.skipWhitespace()
      try value()
      try afterValue()
    } while open != 0
    guard cursor.offset == cursor.count else { throw cursor.error(.trailingBytes) }
  }

  // MARK: Values

  /// Reads a scalar, an empty container, or the start of a container up to its first value.
  @inline(__always) private mutating func value() throws(JSONError) {
    while true {
      if open != 0 { words[open] &+= 1 << 3 }
      switch cursor.byte(cursor.offset) {
      case UInt8(ascii: "\""):
        let (start, isEscaped, _) = try cursor.string()
        append(JSONWord(isEscaped ? .escapedString : .string, length: cursor.offset - 1 - start, high: start))
      case UInt8(ascii: "{"):
        try push(.object)
        if next(isTaken: UInt8(ascii: "}")) { break }
        try name()
        continue
      case UInt8(ascii: "["):
        try push(.array)
        if next(isTaken: UInt8(ascii: "]")) { break }
        continue
      case let byte where byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10:
        let (start, isInteger) = try cursor.number()
        append(JSONWord(isInteger ? .integer : .fraction, length: cursor.offset - start, high: start))
      default:
        let start = cursor.offset
        append(JSONWord(.literal, length: try cursor.literal().rawValue, high: start))
      }
      return
    }
  }

  /// Closes containers up to the next comma, after which a value follows, or up to the end.
  @inline(__always) private mutating func afterValue() throws(JSONError) {
    while true {
      cursor.skipWhitespace()
      if open == 0 { return }
      let isObject = JSONWord(bits: words[open]).isObject
      switch cursor.byte(cursor.offset) {
      case UInt8(ascii: ","):
        cursor.offset += 1
        guard isObject else { return }
        cursor.skipWhitespace()
        return try name()
      case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
        cursor.offset += 1
        pop()
      default: throw cursor.unexpected
      }
    }
  }

  // MARK: Containers

  @inline(__always) private mutating func push(_ kind: JSONWord.Kind) throws(JSONError) {
    guard depth < limits.depth else { throw cursor.error(.tooDeep) }
    depth += 1
    let container = used
    append(JSONWord(kind, length: 0, high: 0))
    append(JSONWord(low: open, high: cursor.offset))
    append(JSONWord(bits: 0))
    open = container
    cursor.offset += 1
    cursor.skipWhitespace()
  }

  /// Consumes the end of an empty container, if the next byte is that end.
  @inline(__always) private mutating func next(isTaken end: UInt8) -> Bool {
    guard cursor.byte(cursor.offset) == end else { return false }
    cursor.offset += 1
    pop()
    return true
  }

  @inline(__always) private mutating func pop() {
    let bits = words[open] & 0xFFFF_FFFF
    words[open] = bits | UInt64(truncatingIfNeeded: used) << 32
    let parent = Int(JSONWord(bits: words[open + 1]).low)
    // While an object is open, this word contains a filter of its names.
    words[open + 2] = 0
    if bits >> 3 > Self.mostComparedNames, JSONWord(bits: bits).kind == .object { markIndexed() }
    open = parent
    depth -= 1
  }

  // MARK: Names

  /// The number of members up to which names are compared with each other while an object is parsed. For a larger
  /// object, an index is created when the first member is looked up.
  private static let mostComparedNames = 24

  /// Reads a name and its colon.
  @inline(__always) private mutating func name() throws(JSONError) {
    guard cursor.byte(cursor.offset) == UInt8(ascii: "\"") else { throw cursor.unexpected }
    let (start, isEscaped, isASCII) = try cursor.string()
    let length = cursor.offset - 1 - start
    if !isASCII || isEscaped, length > 256 { try cursor.checkMarks(start, length) }
    let word = JSONWord(isEscaped ? .escapedString : .string, length: length, high: start)
    if isEscaped {
      markIndexed()
    } else {
      compare(word)
    }
    append(word)
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: ":") else { throw cursor.unexpected }
    cursor.offset += 1
    cursor.skipWhitespace()
  }

  /// Marks an object that has two equal names. A 64-bit filter recognizes most new names without a comparison.
  @inline(__always) private mutating func compare(_ word: JSONWord) {
    var mixed = cursor.load(word.high)
    if word.length < 8 { mixed &= (1 << UInt64(word.length * 8)) &- 1 }
    mixed = (mixed ^ UInt64(truncatingIfNeeded: word.length)) &* 0x9E37_79B9_7F4A_7C15
    let bit: UInt64 = 1 << (mixed >> 58)
    if words[open + 2] & bit != 0 { compareAll(word) }
    words[open + 2] |= bit
  }

  private mutating func compareAll(_ word: JSONWord) {
    guard JSONWord(bits: words[open]).length <= Self.mostComparedNames else { return }
    var position = JSONTape.start(of: open)
    while position < used {
      let other = JSONWord(bits: words[position])
      if other.low == word.low, isEqual(other.high, word.high, word.length) { return markIndexed() }
      let value = JSONWord(bits: words[position + 1])
      position = value.isContainer ? value.high : position + 2
    }
  }

  private mutating func markIndexed() {
    words[open] |= UInt64(JSONWord.Kind.indexedObject.rawValue)
  }

  private func isEqual(_ one: Int, _ other: Int, _ length: Int) -> Bool {
    UnsafeRawBufferPointer(start: cursor.text + one, count: length)
      .elementsEqual(UnsafeRawBufferPointer(start: cursor.text + other, count: length))
  }

  // MARK: The tape

  @inline(__always) private mutating func append(_ word: JSONWord) {
    if used == capacity { grow() }
    words[used] = word.bits
    used += 1
  }

  @inline(never) private mutating func grow() {
    let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
    larger.update(from: words, count: used)
    words.deallocate()
    words = larger
    capacity *= 2
  }
}
