/// Texts of a server that people or programs see: sentences and codes.
enum ServerText {
  /// The most characters of a sentence.
  static let limit = 300

  /// The names of statuses (RFC 9110 §15.5, RFC 6585), which frameworks send where nobody wrote a sentence.
  static let statusNames: Set = [
    "bad request", "unauthorized", "payment required", "forbidden", "not found", "404 page not found",
    "method not allowed", "not acceptable", "proxy authentication required", "request timeout", "conflict", "gone",
    "length required", "precondition failed", "content too large", "payload too large", "uri too long",
    "unsupported media type", "range not satisfiable", "expectation failed", "misdirected request",
    "unprocessable content", "unprocessable entity", "too early", "upgrade required", "precondition required",
    "too many requests",
  ]

  /// A text as a sentence: on one line, without control, direction and other format characters, with at most 300
  /// Unicode scalars; `nil` if nothing is left.
  static func sentence(_ text: String) -> String? { cleaned(text, limit: limit) }

  /// A text as a code: cleaned like a sentence, with at most 100 scalars.
  static func code(_ text: String) -> String? { cleaned(text, limit: 100) }

  /// Whether a text is a code for programs rather than a sentence for people: at most 64 ASCII letters, digits, and
  /// `_`, `.` or `-` between them, with a sign or a capital letter inside, as in `invalid_token`, `auth.expired`,
  /// `NotFound` and `EMAIL_NOT_FOUND`.
  ///
  /// - Parameter isWord: whether a single word of small or of capital letters is one, too, as in `gone`.
  static func isCode(_ text: String, orWord isWord: Bool = false) -> Bool {
    let bytes = text.utf8
    guard bytes.count <= 64, let first = bytes.first, let last = bytes.last, isLetterOrDigit(first),
      isLetterOrDigit(last)
    else { return false }
    var (hasSign, hasHump, hasSmall, hasCapital) = (false, false, false, false)
    var previous = first
    for byte in bytes {
      guard isLetterOrDigit(byte) || "_.-".utf8.contains(byte) else { return false }
      if !isLetterOrDigit(byte) { hasSign = true }
      if isCapital(byte) {
        hasCapital = true
        if isSmall(previous) { hasHump = true }
      }
      if isSmall(byte) { hasSmall = true }
      previous = byte
    }
    return hasSign || hasHump || isWord && hasSmall != hasCapital
  }

  private static func isSmall(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
  private static func isCapital(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isSmall(byte) || isCapital(byte) || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func cleaned(_ text: String, limit: Int) -> String? {
    var result = String.UnicodeScalarView()
    var (count, hasSpace) = (0, false)
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator:
        hasSpace = hasSpace || scalar.properties.isWhitespace
        continue
      case .format, .surrogate, .privateUse, .unassigned: continue
      default: break
      }
      let needed = hasSpace && count > 0 ? 2 : 1
      // One place is kept for the sign that something is missing; it is given up where the text ends just there.
      guard count + needed <= limit else {
        if count == limit { result.removeLast() }
        result.append("…")
        break
      }
      if needed == 2 { result.append(" ") }
      result.append(scalar)
      count += needed
      hasSpace = false
    }
    return result.isEmpty ? nil : String(result)
  }
}
