import ApusCore

/// The words that reveal a secret: in the name of a field, of a query parameter, or of a member of JSON or of a form,
/// and in a line of text.
struct RevealingWords: Sendable {
  /// The words that mark a name anywhere in it. In lower case, without `_` and `-`.
  private let parts: [[UInt8]]
  /// The words that mark a name only as a whole word, because longer words contain them, for example `author` and
  /// `monkey`.
  private let wholes: Set<[UInt8]>

  /// The words that mark a name anywhere in it, without regard to case, `_` and `-`.
  static let standardParts: Set<String> = [
    "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "accesskey", "privatekey",
    "authorization", "credential", "cookie", "sessionid", "sessid", "signature", "cvv", "cardnumber", "iban",
    "verifier", "assertion", "devicecode", "usercode", "csrf", "xsrf", "bearer", "dpop",
  ]
  private static let standardWholes: Set<String> = [
    "auth", "authenticate", "authentication", "key", "session", "jwt", "otp", "pwd", "pin",
  ]
  /// The plurals and compounds of the words above, for names that are compared word by word.
  private static let standardForms: Set<String> = [
    "credentials", "accesstoken", "authtoken", "apitoken", "sessiontoken", "csrftoken", "secretkey", "jsessionid",
    "phpsessid",
  ]

  private static let standardWords = bytes(of: standardParts.union(standardWholes).union(standardForms))

  /// - Parameter parts: the words that mark a name anywhere in it. If they include the standard words, the standard
  ///   whole words are used, too.
  init(_ parts: Set<String>) {
    self.parts = parts.map { Self.plain($0.utf8) }
    wholes = parts.isSuperset(of: Self.standardParts) ? Self.bytes(of: Self.standardWholes) : []
  }

  private static func bytes(of words: Set<String>) -> Set<[UInt8]> { Set(words.map { Array($0.utf8) }) }

  /// Whether a text contains one of the words.
  func occur(in text: some Collection<UInt8>) -> Bool {
    let plain = Self.plain(text)
    return parts.contains { plain.contains($0) } || !wholes.isEmpty && Self.hasWord(of: wholes, in: text)
  }

  /// Whether one of the standard words is a whole word of the name of a field (header). Words inside of longer words
  /// are ignored, because omitting a field by mistake may change the response.
  static func mark(field name: some Sequence<UInt8>) -> Bool { hasWord(of: standardWords, in: name) }

  private static func plain(_ text: some Sequence<UInt8>) -> [UInt8] {
    text.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map(\.asciiLowercased)
  }

  /// Splits the text into words at every byte that is not a letter, and before an uppercase letter after a lowercase
  /// letter.
  private static func hasWord(of words: Set<[UInt8]>, in text: some Sequence<UInt8>) -> Bool {
    var word: [UInt8] = []
    var previous: UInt8 = 0
    for byte in text {
      if !byte.isLetter || byte.isCapital && previous.isLetter && !previous.isCapital {
        if words.contains(word) { return true }
        word = []
      }
      // No revealing word is longer than 16 letters.
      if byte.isLetter, word.count <= 16 { word.append(byte.asciiLowercased) }
      previous = byte
    }
    return words.contains(word)
  }
}
