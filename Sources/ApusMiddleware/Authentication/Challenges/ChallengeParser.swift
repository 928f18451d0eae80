import ApusCore

/// A parser of `WWW-Authenticate` lines (RFC 9110 §11.6.1), in one pass and with limits.
///
/// Commas separate challenges as well as parameters: a word followed by `=` is a parameter of the challenge before it,
/// any other word begins a challenge.
struct ChallengeParser {
  static let maximumChallenges = 32
  /// For each challenge.
  static let maximumParameters = 64
  /// For all lines together.
  static let maximumBytes = 16 << 10

  private enum Halt: Error {
    /// The rest of the line is malformed.
    case malformed
    /// A limit is exceeded.
    case full
  }

  private struct Draft {
    let scheme: String
    var token: String?
    var parameters: [Challenge.Parameter] = []
  }

  private(set) var challenges: [Challenge] = []
  /// The challenge that is being read.
  private var draft: Draft?
  private var room = Self.maximumBytes

  /// Reads a line.
  ///
  /// If it is malformed or too long, the rest is skipped together with the incomplete challenge, since a truncated
  /// challenge could have another meaning.
  ///
  /// - Returns: whether another line may be read.
  mutating func read(_ line: [UInt8]) -> Bool {
    guard line.count <= room else { return false }
    room -= line.count
    defer { draft = nil }
    var cursor = ChallengeCursor(line)
    do throws(Halt) {
      while cursor.skipToElement() { try readElement(&cursor) }
      finish()
      return true
    } catch {
      return error == .malformed
    }
  }

  private mutating func readElement(_ cursor: inout ChallengeCursor) throws(Halt) {
    guard let word = cursor.token() else { throw .malformed }
    if cursor.equalsSign() {
      try readParameter(word, &cursor)
    } else {
      try begin(word)
      if cursor.skipSpaces() { try readFirst(&cursor) }
    }
    guard cursor.endsElement() else { throw .malformed }
  }

  /// Reads the `token68` or the first parameter after the name of a scheme, if any.
  private mutating func readFirst(_ cursor: inout ChallengeCursor) throws(Halt) {
    if let token = cursor.token68() {
      draft?.token = token
    } else if let name = cursor.token() {
      guard cursor.equalsSign() else { throw .malformed }
      try readParameter(name, &cursor)
    }
  }

  private mutating func readParameter(_ name: String, _ cursor: inout ChallengeCursor) throws(Halt) {
    guard let draft, draft.token == nil, let value = cursor.value() else { throw .malformed }
    guard draft.parameters.count < Self.maximumParameters else { throw .full }
    self.draft?.parameters.append(Challenge.Parameter(name, value))
  }

  private mutating func begin(_ scheme: String) throws(Halt) {
    finish()
    guard challenges.count < Self.maximumChallenges else { throw .full }
    draft = Draft(scheme: scheme)
  }

  /// Completes the challenge that is being read.
  private mutating func finish() {
    guard let draft else { return }
    challenges.append(Challenge(draft.scheme, token: draft.token, parameters: draft.parameters))
    self.draft = nil
  }
}

/// A position in the value of a field, with the grammar's elements (RFC 9110 §5.6).
///
/// It moves back only to the start of an element that turns out to be of another kind.
struct ChallengeCursor {
  private let bytes: [UInt8]
  private var index = 0

  /// Creates a cursor at the start.
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

  /// Skips spaces and tabs.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  mutating func skipSpaces() -> Bool {
    !take(while: \.isBlank).isEmpty
  }

  /// Skips to the next element of a list, past empty ones (RFC 9110 §5.6.1.2).
  ///
  /// - Returns: whether there is one.
  mutating func skipToElement() -> Bool {
    take { $0.isBlank || $0 == UInt8(ascii: ",") }
    return next != nil
  }

  /// Whether an element of a list ends here, at a comma or at the end, after optional spaces.
  mutating func endsElement() -> Bool {
    skipSpaces()
    return next == nil || next == UInt8(ascii: ",")
  }

  /// Reads a token (RFC 9110 §5.6.2); `nil`: there is none.
  mutating func token() -> String? {
    let token = take(while: Self.isTokenCharacter)
    return token.isEmpty ? nil : Self.text(token)
  }

  /// Reads `=` with optional spaces around it; moves back if there is none.
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

  /// Reads a `token68` (RFC 9110 §11.2) up to the end of its element; `nil`, and moves back, if it is something else.
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

  /// Reads the value of a parameter; `nil`: there is none.
  ///
  /// Many servers leave out required quotes, around URLs for example: an unquoted value ends at the next space or
  /// comma.
  mutating func value() -> String? {
    if next == UInt8(ascii: "\"") { return quotedString() }
    let value = take(while: Self.isUnquotedCharacter)
    return value.isEmpty ? nil : Self.text(value)
  }

  /// Reads a quoted string without quotes and escapes (RFC 9110 §5.6.4); `nil`: it does not end, or contains a control
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
  /// Decodes UTF-8, or else ISO-8859-1, which older servers send.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func isToken68Character(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-._~+/".utf8.contains(byte)
  }

  /// Whether a byte is a visible character other than a quotation mark, a comma and a backslash.
  private static func isUnquotedCharacter(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !"\",\\".utf8.contains(byte)
  }
}
