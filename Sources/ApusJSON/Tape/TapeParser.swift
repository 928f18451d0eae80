/// A parser of JSON texts (RFC 8259) into a ``JSONTape``.
///
/// It validates everything in one pass: the grammar, UTF-8, escapes, surrogates, nesting. Open containers are linked
/// through the tape, so deep nesting costs no stack.
struct TapeParser: ~Copyable {
  let text: UnsafeRawPointer
  let count: Int
  private let limits: JSONLimits
  /// The offset of the next byte.
  var offset = 0
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
    let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + JSONTape.padding, alignment: 8)
    if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
    copy.advanced(by: bytes.count).initializeMemory(as: UInt8.self, repeating: 0, count: JSONTape.padding)
    var parser = TapeParser(text: UnsafeRawPointer(copy), count: bytes.count, limits: limits)
    do throws(JSONError) {
      try parser.run()
    } catch {
      parser.words.deallocate()
      defer { copy.deallocate() }
      throw parser.isOtherEncoding(error) ? JSONError(.invalidUTF8, at: 0) : error
    }
    return JSONTape(bytes: parser.text, byteCount: parser.count, words: parser.words, wordCount: parser.used)
  }

  private init(text: UnsafeRawPointer, count: Int, limits: JSONLimits) {
    (self.text, self.count, self.limits) = (text, count, limits)
    capacity = count / 8 + 16
    words = .allocate(capacity: capacity)
  }

  private mutating func run() throws(JSONError) {
    append(JSONWord(.literal, length: JSONWord.null, high: 0))
    if count >= 3, byte(0) == 0xEF, byte(1) == 0xBB, byte(2) == 0xBF { offset = 3 }
    repeat {
      skipWhitespace()
      try value()
      try afterValue()
    } while open != 0
    guard offset == count else { throw error(.trailingBytes) }
  }

  // MARK: Values

  /// Reads a scalar, an empty container, or the start of a container up to its first value.
  @inline(__always) private mutating func value() throws(JSONError) {
    while true {
      if open != 0 { words[open] &+= 1 << 3 }
      switch byte(offset) {
      case UInt8(ascii: "\""):
        let (start, isEscaped, _) = try string()
        append(JSONWord(isEscaped ? .escapedString : .string, length: offset - 1 - start, high: start))
      case UInt8(ascii: "{"):
        try push(.object)
        if next(isTaken: UInt8(ascii: "}")) { break }
        try name()
        continue
      case UInt8(ascii: "["):
        try push(.array)
        if next(isTaken: UInt8(ascii: "]")) { break }
        continue
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
      default: try literal()
      }
      return
    }
  }

  /// Closes containers up to the next comma, after which a value follows, or up to the end.
  @inline(__always) private mutating func afterValue() throws(JSONError) {
    while true {
      skipWhitespace()
      if open == 0 { return }
      let isObject = JSONWord(bits: words[open]).isObject
      switch byte(offset) {
      case UInt8(ascii: ","):
        offset += 1
        guard isObject else { return }
        skipWhitespace()
        return try name()
      case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
        offset += 1
        pop()
      default: throw unexpected
      }
    }
  }

  // MARK: Containers

  @inline(__always) private mutating func push(_ kind: JSONWord.Kind) throws(JSONError) {
    guard depth < limits.depth else { throw error(.tooDeep) }
    depth += 1
    let container = used
    append(JSONWord(kind, length: 0, high: 0))
    append(JSONWord(low: open, high: offset))
    append(JSONWord(bits: 0))
    open = container
    offset += 1
    skipWhitespace()
  }

  /// Takes the end of an empty container.
  @inline(__always) private mutating func next(isTaken end: UInt8) -> Bool {
    guard byte(offset) == end else { return false }
    offset += 1
    pop()
    return true
  }

  @inline(__always) private mutating func pop() {
    let bits = words[open] & 0xFFFF_FFFF
    words[open] = bits | UInt64(truncatingIfNeeded: used) << 32
    let parent = Int(JSONWord(bits: words[open + 1]).low)
    // While an object is open, this word contains what is known of its names.
    words[open + 2] = 0
    if bits >> 3 > Self.mostComparedNames, bits & 7 == JSONWord.Kind.object.rawValue { markIndexed() }
    open = parent
    depth -= 1
  }

  // MARK: Names

  /// The number of members up to which names are compared with each other while an object is parsed. Of larger objects
  /// an index is made when the first member is looked up.
  private static let mostComparedNames = 24

  /// Reads a name and its colon.
  @inline(__always) private mutating func name() throws(JSONError) {
    guard byte(offset) == UInt8(ascii: "\"") else { throw unexpected }
    let (start, isEscaped, isASCII) = try string()
    let length = offset - 1 - start
    if !isASCII || isEscaped, length > 256 { try checkMarks(start, length) }
    let word = JSONWord(isEscaped ? .escapedString : .string, length: length, high: start)
    if isEscaped {
      markIndexed()
    } else {
      compare(word)
    }
    append(word)
    skipWhitespace()
    guard byte(offset) == UInt8(ascii: ":") else { throw unexpected }
    offset += 1
    skipWhitespace()
  }

  /// Marks an object with two equal names. A filter of 64 bits finds nearly all names that differ.
  @inline(__always) private mutating func compare(_ word: JSONWord) {
    var mixed = load(word.high)
    if word.length < 8 { mixed &= (1 << UInt64(word.length * 8)) &- 1 }
    mixed = (mixed ^ UInt64(truncatingIfNeeded: word.length)) &* 0x9E37_79B9_7F4A_7C15
    let bit: UInt64 = 1 << (mixed >> 58)
    if words[open + 2] & bit != 0 { compareAll(word) }
    words[open + 2] |= bit
  }

  @inline(never) private mutating func compareAll(_ word: JSONWord) {
    guard words[open] & 0xFFFF_FFFF >> 3 <= Self.mostComparedNames else { return }
    var position = JSONTape.start(of: open)
    while position < used {
      let other = JSONWord(bits: words[position])
      if other.low == word.low, isEqual(other.high, word.high, word.length) { return markIndexed() }
      let value = JSONWord(bits: words[position + 1])
      position = value.isContainer ? value.high : position + 2
    }
  }

  private mutating func markIndexed() {
    words[open] |= JSONWord.Kind.indexedObject.rawValue
  }

  private func isEqual(_ one: Int, _ other: Int, _ length: Int) -> Bool {
    UnsafeRawBufferPointer(start: text + one, count: length)
      .elementsEqual(UnsafeRawBufferPointer(start: text + other, count: length))
  }

  // MARK: The tape

  @inline(__always) mutating func append(_ word: JSONWord) {
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

  // MARK: Bytes

  @inline(__always) func byte(_ offset: Int) -> UInt8 { text.load(fromByteOffset: offset, as: UInt8.self) }

  /// Eight bytes, the first in the lowest bits.
  @inline(__always) func load(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always) mutating func skipWhitespace() {
    if byte(offset) > 0x20 { return }
    skipLongWhitespace()
  }

  @inline(never) private mutating func skipLongWhitespace() {
    while true {
      switch byte(offset) {
      case 0x20 where load(offset) == 0x2020_2020_2020_2020: offset += 8
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  /// Whether an error arose because the text is in UTF-16 or UTF-32, which §8.1 excludes.
  private func isOtherEncoding(_ error: JSONError) -> Bool {
    guard error.reason == .unexpectedByte, count >= 2 else { return false }
    let mark = UInt16(byte(0)) << 8 | UInt16(byte(1))
    return byte(0) == 0 || byte(1) == 0 || mark == 0xFEFF || mark == 0xFFFE
  }

  func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: offset) }

  /// The error for a next byte that is not allowed here.
  var unexpected: JSONError { error(offset >= count ? .unexpectedEnd : .unexpectedByte) }
}
