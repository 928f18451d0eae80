import ApusCore

/// The field `Content-Disposition` (RFC 6266).
enum ContentDisposition {
  /// Returns the names in order of preference: `filename*`, then `filename` (RFC 6266 §4.3). The names are untrusted.
  static func fileNames(in text: String) -> [String] {
    guard text.utf8.count <= 4096 else { return [] }
    var plain: String?
    var extended: String?
    // The disposition type comes before the parameters.
    var rest = text.utf8.drop { $0 != UInt8(ascii: ";") }.dropFirst()
    while !rest.isEmpty {
      let (name, value) = parameter(&rest)
      switch name {
      case "filename": plain = plain ?? value
      case "filename*": extended = extended ?? decoded(value)
      default: break
      }
    }
    return [extended, plain].compactMap(\.self)
  }

  /// Removes the next parameter with its semicolon.
  private static func parameter(_ rest: inout Substring.UTF8View) -> (name: String, value: String) {
    let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
    rest = rest.dropFirst(name.count)
    var value: [UInt8] = []
    if rest.first == UInt8(ascii: "=") {
      rest = rest.dropFirst().drop(while: \.isBlank)
      if rest.first == UInt8(ascii: "\"") {
        value = quoted(&rest)
      } else {
        let token = rest.prefix { $0 != UInt8(ascii: ";") }
        value = [UInt8](token.trimmed)
      }
    }
    rest = rest.drop { $0 != UInt8(ascii: ";") }.dropFirst()
    return (String(Substring(name.trimmed)).lowercased(), String(decoding: value, as: UTF8.self))
  }

  /// Removes a quoted string (RFC 9110 §5.6.4).
  private static func quoted(_ rest: inout Substring.UTF8View) -> [UInt8] {
    var value: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      // Some servers send the backslashes of a Windows path unescaped. In both readings, a backslash separates folders.
      guard let next = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte else { break }
      value.append(next)
    }
    return value
  }

  /// Decodes an extended value such as `UTF-8''%e2%82%ac` (RFC 8187 §3.2). Returns `nil` if it is malformed.
  private static func decoded(_ value: String) -> String? {
    let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = PercentText.bytes(of: parts[2]) else { return nil }
    switch Substring(parts[0]).lowercased() {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default: return nil
    }
  }
}

/// Percent-encoded text (RFC 3986 §2.1).
enum PercentText {
  /// Returns the decoded bytes, or `nil` if an escape is incomplete.
  static func bytes(of text: Substring.UTF8View) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ Hexadecimal.digit($0) }),
        let low = rest.popFirst().flatMap({ Hexadecimal.digit($0) })
      else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
