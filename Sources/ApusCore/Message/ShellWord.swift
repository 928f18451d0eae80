/// Words of a command line for a POSIX shell.
enum ShellWord {
  /// One word, in single quotes unless it needs none.
  ///
  /// Shells read bytes: a quotation mark with a combining mark behind it is one `Character`, and ends the quotes all the
  /// same. No word can hold NUL, which becomes U+FFFD.
  static func quoted(_ text: String) -> String {
    if isPlain(text) { return text }
    var bytes: [UInt8] = [quote]
    for byte in text.utf8 {
      switch byte {
      case quote: bytes += escapedQuote
      case 0: bytes += "\u{FFFD}".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(quote)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let quote = UInt8(ascii: "'")
  private static let escapedQuote = Array("'\\''".utf8)

  /// Letters, digits and `-._@`; a tilde at the start of a word would be replaced by the shell.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "@") || (ByteSet.unreserved.contains(byte) && byte != UInt8(ascii: "~"))
      }
  }
}
