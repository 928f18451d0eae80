/// A validated JSON text as a flat list of words, with a padded copy of its bytes.
///
/// A word describes a value: its kind in the low 3 bits, a length or count in the next 29 bits, and an offset or a
/// position in the high 32 bits. An array or object has two more words, its origin and its bookmark, and is followed by
/// its elements, or by its names and values alternately. Its first word contains the position after all of them, so
/// that every value is skipped in one step.
///
/// Memory is managed manually because both lists are created in one pass of the parser and then read millions of times:
/// an array in a class would be checked for exclusive access each time. Every position and range is checked against the
/// sizes, so an invalid position traps and never reads other memory.
struct JSONTape: ~Copyable {
  /// The largest text in bytes: a length has 29 bits.
  static let maximumBytes = 1 << 29 - 64
  /// The position of a `null` that belongs to no value of the text.
  static let null = 0
  /// The position of the text's value.
  static let root = 1

  let bytes: UnsafeRawPointer
  let byteCount: Int
  private let words: UnsafeMutablePointer<UInt64>
  private let wordCount: Int

  /// - Parameters:
  ///   - bytes: a padded copy, whose memory the tape then owns.
  ///   - words: the words, whose memory the tape then owns.
  init(bytes: UnsafeRawPointer, byteCount: Int, words: UnsafeMutablePointer<UInt64>, wordCount: Int) {
    (self.bytes, self.byteCount, self.words, self.wordCount) = (bytes, byteCount, words, wordCount)
  }

  deinit {
    words.deallocate()
    bytes.deallocate()
  }

  /// The word at a position.
  subscript(position: Int) -> JSONWord {
    @inline(__always) get {
      precondition(UInt(bitPattern: position) < UInt(bitPattern: wordCount))
      return JSONWord(bits: words[position])
    }
  }

  /// Replaces a word. Only bookmarks and the kinds of objects change after parsing.
  @inline(__always) func replace(_ position: Int, with word: JSONWord) {
    precondition(UInt(bitPattern: position) < UInt(bitPattern: wordCount))
    words[position] = word.bits
  }

  /// Returns the position of the first element or name of a container.
  @inline(__always) static func start(of container: Int) -> Int { container + 3 }

  /// Returns the offset of a value's first byte.
  func offset(of position: Int) -> Int {
    let word = self[position]
    if word.isContainer { return self[position + 1].high }
    return word.isString ? word.high - 1 : word.high
  }

  /// Returns the position and the ordinal of the element or name that was used last, which speeds up the next lookup.
  /// The position is 0 if no element or name has been used.
  @inline(__always) func bookmark(of container: Int) -> (position: Int, ordinal: Int) {
    let word = self[container + 2]
    return (Int(word.low), word.high)
  }

  @inline(__always) func setBookmark(of container: Int, to position: Int, ordinal: Int) {
    replace(container + 2, with: JSONWord(low: position, high: ordinal))
  }

  /// Returns the position after a value.
  @inline(__always) func position(after position: Int) -> Int {
    let word = self[position]
    return word.isContainer ? word.high : position + 1
  }

  /// Returns the bytes of a string between its quotation marks, or the bytes of a number.
  @inline(__always) func text(_ word: JSONWord) -> UnsafeRawBufferPointer {
    precondition(word.high + word.length <= byteCount)
    return UnsafeRawBufferPointer(start: bytes + word.high, count: word.length)
  }

  /// Returns the text of a string.
  @inline(__always) func string(_ word: JSONWord) -> String {
    let text = text(word)
    return word.kind == .escapedString ? JSONEscape.string(text) : String(decoding: text, as: UTF8.self)
  }

  /// Whether a word represents a string without escapes that consists of these bytes.
  ///
  /// - Parameter low: the low half of such a word.
  @inline(__always) func isText(_ word: JSONWord, _ text: UnsafeRawBufferPointer, _ low: UInt32) -> Bool {
    guard word.low == low else { return false }
    var index = 0
    // Because of the padding, eight bytes can be read from the tape's text, but not from the other text.
    while index + 8 <= text.count {
      let one = bytes.loadUnaligned(fromByteOffset: word.high + index, as: UInt64.self)
      guard one == text.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
      index += 8
    }
    while index < text.count {
      guard bytes.load(fromByteOffset: word.high + index, as: UInt8.self) == text[index] else { return false }
      index += 1
    }
    return true
  }

  /// All bytes.
  var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: byteCount) }
}

/// A word of a ``JSONTape``.
struct JSONWord {
  enum Kind: UInt8 {
    /// `null`, `false` or `true`, by the length.
    case literal
    /// A number without fraction and exponent.
    case integer
    /// Another number.
    case fraction
    /// A string without escapes.
    case string
    /// A string with escapes.
    case escapedString
    case array
    /// An object with unique names without escapes.
    case object
    /// An object that may have duplicate names or names with escapes. Its members are looked up through an index.
    case indexedObject
  }

  var bits: UInt64

  @inline(__always) init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - length: the length of a string or number in bytes, or the number of elements or members.
  ///   - high: the offset of a string's or number's first byte, or the position after a container.
  @inline(__always) init(_ kind: Kind, length: Int, high: Int) {
    bits = UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: length) << 3 | UInt64(truncatingIfNeeded: high) << 32
  }

  @inline(__always) init(low: Int, high: Int) {
    bits = UInt64(truncatingIfNeeded: low) & 0xFFFF_FFFF | UInt64(truncatingIfNeeded: high) << 32
  }

  // Safe because each of the eight bit patterns is a kind.
  @inline(__always) var kind: Kind { unsafeBitCast(UInt8(truncatingIfNeeded: bits & 7), to: Kind.self) }
  @inline(__always) var isContainer: Bool { bits & 7 >= 5 }
  @inline(__always) var isObject: Bool { bits & 7 >= 6 }
  @inline(__always) var isNull: Bool { bits & 0xFFFF_FFFF == 0 }
  /// The value of a literal.
  @inline(__always) var literal: JSONLiteral? { kind == .literal ? JSONLiteral(rawValue: length) : nil }
  @inline(__always) var isNumber: Bool { kind == .integer || kind == .fraction }
  @inline(__always) var isString: Bool { kind == .string || kind == .escapedString }
  @inline(__always) var length: Int { Int(truncatingIfNeeded: (bits & 0xFFFF_FFFF) >> 3) }
  @inline(__always) var high: Int { Int(truncatingIfNeeded: bits >> 32) }
  @inline(__always) var low: UInt32 { UInt32(truncatingIfNeeded: bits) }
}
