/// A place in the value of a field, and what can be read from there (RFC 9110 §5.6).
///
/// It only moves on, but for one element that turns out to be something else.
struct ChallengeCursor {
  private let bytes: [UInt8]
  private var index = 0

  /// Begins at the front.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  @discardableResult
  private mutating func take(while isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let taken = bytes[index...].prefix(while: isTaken)
    index = taken.endIndex
    return taken
  }

  /// Goes past spaces and tabs.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  mutating func skipSpaces() -> Bool {
    !take(while: Self.isSpace).isEmpty
  }

  /// Goes to where the next element of a list begins, past empty ones (RFC 9110 §5.6.1.2).
  ///
  /// - Returns: whether there is one.
  mutating func skipToElement() -> Bool {
    take { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
    return next != nil
  }

  /// Whether an element of a list is over: with a comma or the value, spaces before that aside.
  mutating func endsElement() -> Bool {
    skipSpaces()
    return next == nil || next == UInt8(ascii: ",")
  }

  /// A token (RFC 9110 §5.6.2); `nil` where there is none.
  mutating func token() -> String? {
    let token = take(while: Self.isTokenCharacter)
    return token.isEmpty ? nil : Self.text(token)
  }

  /// `=` with or without spaces around it, which stays where it was when it is something else.
  ///
  /// - Returns: whether it was there.
  mutating func equalsSign() -> Bool {
    let start = index
    skipSpaces()
    guard next == UInt8(ascii: "=") else {
      index = start
      return false
    }
    index += 1
    skipSpaces()
    return true
  }

  /// What some schemes have in the place of parameters (RFC 9110 §11.2), up to the end of its element; `nil` where that
  /// is something else.
  mutating func token68() -> String? {
    let start = index
    let hasText = !take(while: Self.isToken68Character).isEmpty
    take { $0 == UInt8(ascii: "=") }
    let end = index
    guard hasText, endsElement() else {
      index = start
      return nil
    }
    return Self.text(bytes[start..<end])
  }

  /// The value of a parameter; `nil` where there is none.
  ///
  /// Many servers leave out quotes that are needed, around URLs for example: without them it goes on to the next space
  /// or comma.
  mutating func value() -> String? {
    if next == UInt8(ascii: "\"") { return quotedString() }
    let value = take(while: Self.isUnquotedCharacter)
    return value.isEmpty ? nil : Self.text(value)
  }

  /// A quoted string without quotes and escapes (RFC 9110 §5.6.4); `nil` when it does not end or holds a control
  /// character.
  private mutating func quotedString() -> String? {
    var content: [UInt8] = []
    var isEscaped = false
    for position in bytes[index...].indices.dropFirst() {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\""), !isEscaped {
        index = position + 1
        return Self.text(content[...])
      }
      if byte == UInt8(ascii: "\\"), !isEscaped {
        isEscaped = true
        continue
      }
      guard byte == 0x09 || (byte >= 0x20 && byte != 0x7F) else { return nil }
      content.append(byte)
      isEscaped = false
    }
    return nil
  }
}

extension ChallengeCursor {
  /// UTF-8; what is none is taken for ISO-8859-1, which servers wrote before.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func isToken68Character(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || "-._~+/".utf8.contains(byte)
  }

  /// Whatever can be seen and has no other meaning here.
  private static func isUnquotedCharacter(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !"\",\\".utf8.contains(byte)
  }
}
