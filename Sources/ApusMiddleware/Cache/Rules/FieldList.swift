import ApusCore

/// The elements of a field that is a list (RFC 9110 §5.6.1).
enum FieldList {
  static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")

  /// Returns the elements of a value without surrounding spaces. Commas within quotation marks separate nothing. Empty
  /// elements are left out.
  ///
  /// - Parameter allowsEscapes: whether a backslash within quotation marks escapes the next byte, as in strings (RFC
  ///   9110 §5.6.4), but not in entity tags (§8.8.3).
  static func elements(of value: ArraySlice<UInt8>, allowsEscapes: Bool) -> [ArraySlice<UInt8>] {
    var elements: [ArraySlice<UInt8>] = []
    var start = value.startIndex
    var isQuoted = false
    var isEscaped = false
    func add(_ end: Int) {
      let element = trimmed(value[start..<end])
      if !element.isEmpty { elements.append(element) }
    }
    for index in value.indices {
      let byte = value[index]
      if isEscaped {
        isEscaped = false
      } else if byte == quote {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = allowsEscapes && byte == backslash
      } else if byte == UInt8(ascii: ",") {
        add(index)
        start = index + 1
      }
    }
    add(value.endIndex)
    return elements
  }

  /// Returns a value without surrounding spaces and tabs. The generic function of another module costs ten times as much.
  static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (first, last) = (value.startIndex, value.endIndex)
    while first < last, value[first].isBlank { first += 1 }
    while first < last, value[last - 1].isBlank { last -= 1 }
    return value[first..<last]
  }

  /// Returns the content of a string in quotation marks without its escapes (RFC 9110 §5.6.4); `nil` if the text is
  /// not exactly one such string.
  static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count >= 2, text.first == quote else { return nil }
    var content: [UInt8] = []
    var isEscaped = false
    for (index, byte) in zip(text.indices, text).dropFirst() {
      if isEscaped {
        content.append(byte)
        isEscaped = false
      } else if byte == backslash {
        isEscaped = true
      } else if byte == quote {
        return index == text.endIndex - 1 ? content : nil
      } else {
        content.append(byte)
      }
    }
    return nil
  }

  /// Whether a byte may be part of a token (RFC 9110 §5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
