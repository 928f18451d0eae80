/// Strings from a server: sentences for people and codes for programs.
package enum ServerText {
  /// The maximum length of a sentence in Unicode scalars.
  static let limit = 300

  /// The names of statuses (RFC 9110 §15.5, RFC 6585), which frameworks send in place of a message.
  static let statusNames: Set = [
    "bad request", "unauthorized", "payment required", "forbidden", "not found", "404 page not found",
    "method not allowed", "not acceptable", "proxy authentication required", "request timeout", "conflict", "gone",
    "length required", "precondition failed", "content too large", "payload too large", "uri too long",
    "unsupported media type", "range not satisfiable", "expectation failed", "misdirected request",
    "unprocessable content", "unprocessable entity", "too early", "upgrade required", "precondition required",
    "too many requests",
  ]

  /// Returns a string as one line without control, direction and other format characters, cut to 300 Unicode scalars.
  /// `nil` if the result is empty.
  package static func message(_ text: String) -> String? { cleaned(text, limit: limit) }

  /// Returns a string cleaned like a message, cut to 100 Unicode scalars.
  package static func code(_ text: String) -> String? { cleaned(text, limit: 100) }

  /// Whether a string is a code for programs rather than a sentence for people.
  ///
  /// A code has at most 64 ASCII letters and digits with `_`, `.` or `-` between them, and contains one of these
  /// signs or a lower-case letter followed by an upper-case letter, as in `invalid_token`, `auth.expired`, `NotFound`
  /// and `EMAIL_NOT_FOUND`.
  ///
  /// - Parameter isWord: whether a single word in lower or upper case, such as `gone`, counts as a code, too.
  static func isCode(_ text: String, orWord isWord: Bool = false) -> Bool {
    let bytes = text.utf8
    guard bytes.count <= 64, let first = bytes.first, let last = bytes.last, first.isLetterOrDigit, last.isLetterOrDigit
    else { return false }
    var (hasSign, hasHump, hasSmall, hasCapital) = (false, false, false, false)
    var previous = first
    for byte in bytes {
      guard byte.isLetterOrDigit || "_.-".utf8.contains(byte) else { return false }
      if !byte.isLetterOrDigit { hasSign = true }
      if byte.isCapital {
        hasCapital = true
        if previous.isLetter, !previous.isCapital { hasHump = true }
      }
      if byte.isLetter, !byte.isCapital { hasSmall = true }
      previous = byte
    }
    return hasSign || hasHump || isWord && hasSmall != hasCapital
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
      // The last scalar is replaced by the ellipsis if the limit is reached.
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
