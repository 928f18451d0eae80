import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension RequestMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Method, origin and number of fields: safe for logs.
  public var description: String {
    "\(head.method.rawValue) \(origin.map { "\($0)" } ?? "?") with \(head.headerFields.count) fields"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

  /// The same exchange as a `curl` command line, for a POSIX shell.
  ///
  /// Every word is quoted, whatever bytes it holds, and curl takes the URL as it is (`--globoff`). Content that no word
  /// can hold, since it is not UTF-8 or holds NUL, is read from standard input, as a stream is.
  ///
  /// - Parameters:
  ///   - redaction: what is shown; `nil` shows everything, secrets included. Content is shown only
  ///     then, since it may hold a password. Default: ``Redaction`` as it comes.
  ///   - options: further words of the command line, which are quoted and never masked. Default: none.
  public func curl(redaction: Redaction? = Redaction(), options: [String] = []) -> String {
    // With `--request HEAD` curl would wait for content that never comes.
    var words = head.method == .head ? ["curl", "--head"] : ["curl", "--request", head.method.rawValue]
    let target = redaction?.target(target) ?? target
    words += ["\(head.scheme ?? "")://\(head.authority ?? "")\(target)", "--globoff"]
    for field in head.headerFields {
      words += ["--header", Self.word(for: field.name, redaction?.value(of: field) ?? field.value)]
    }
    words += contentWords(isShown: redaction == nil) + options
    return words.map(ShellWord.quoted).joined(separator: " ")
  }

  /// A field as curl takes it: one with nothing behind the colon would be left out.
  private static func word(for name: HTTPField.Name, _ value: String) -> String {
    value.isEmpty ? "\(name);" : "\(name): \(value)"
  }

  private func contentWords(isShown: Bool) -> [String] {
    switch content {
    case .empty: return []
    case .bytes(let data):
      guard isShown else { return ["--data-raw", Redaction.mask] }
      guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
        return ["--data-binary", "@-"]
      }
      // Unlike `--data-binary` this never takes content that begins with `@` for the name of a file.
      return ["--data-raw", text]
    case .file(let file):
      guard isShown else { return ["--data-binary", "@\(Redaction.mask)"] }
      // A file of that name, and not standard input.
      return ["--data-binary", file.path == "-" ? "@./-" : "@\(file.path)"]
    case .stream: return ["--data-binary", "@-"]
    }
  }
}

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
