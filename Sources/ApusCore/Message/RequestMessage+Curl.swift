import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestMessage: SelfRedacting {
  /// The method, the origin and the number of fields (headers). Safe for logs.
  public var description: String {
    "\(head.method.rawValue) \(origin.map { "\($0)" } ?? "?") with \(head.headerFields.count) fields"
  }

  /// Returns the request as a `curl` command line for a POSIX shell.
  ///
  /// All words are quoted, and curl does not interpret the URL (`--globoff`). Content (body) that is not UTF-8,
  /// contains NUL, is a stream or has files as parts is read from standard input.
  ///
  /// - Parameters:
  ///   - redaction: the values to show. With `nil` the command includes all values, including secrets and the content.
  ///     Otherwise the content is masked. Default: ``Redaction`` with its defaults.
  ///   - options: additional words of the command line, quoted and never masked. Default: none.
  public func curl(redaction: Redaction? = Redaction(), options: [String] = []) -> String {
    // With `--request HEAD` curl would wait for content that never arrives.
    var words = head.method == .head ? ["curl", "--head"] : ["curl", "--request", head.method.rawValue]
    let target = redaction?.target(target) ?? target
    words += ["\(head.scheme ?? "")://\(head.authority ?? "")\(target)", "--globoff"]
    for field in head.headerFields {
      words += ["--header", Self.word(for: field.name, redaction?.value(of: field) ?? field.value)]
    }
    words += contentWords(isShown: redaction == nil) + options
    return words.map(ShellWord.quoted).joined(separator: " ")
  }

  /// Returns a field for curl, which ignores a field without text after the colon.
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
      // Unlike `--data-binary`, this option does not read content that begins with `@` as a file name.
      return ["--data-raw", text]
    case .file(let file):
      guard isShown else { return ["--data-binary", "@\(Redaction.mask)"] }
      // `@./-` is a file with the name `-`, whereas `@-` would be standard input.
      return ["--data-binary", file.path == "-" ? "@./-" : "@\(file.path)"]
    case .stream, .joined: return ["--data-binary", "@-"]
    }
  }
}

/// Quoting of words for a POSIX shell.
enum ShellWord {
  /// Returns a word, in single quotes if necessary. NUL, which a word cannot contain, becomes U+FFFD.
  // Works on bytes, because a quotation mark followed by a combining mark is another `Character` but still ends the
  // quotes.
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

  /// Whether a word consists of letters, digits and `-._@`. A tilde needs quotes, because the shell would replace it at
  /// the start.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "@") || (ByteSet.unreserved.contains(byte) && byte != UInt8(ascii: "~"))
      }
  }
}
