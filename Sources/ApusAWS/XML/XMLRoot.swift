#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The root element of a document, read from the beginning of the document only.
enum XMLRoot {
  /// The maximum number of bytes in which the name is searched, after leading white space.
  private static let searchedLength = 4 << 10

  /// Returns the name of the root element without its prefix, or the name in a document type declaration. Returns `nil`
  /// if the content does not begin like a document.
  static func name(of content: Data) -> String? {
    // Services send white space while they compute a response.
    var rest = content.drop(while: isSpace).prefix(searchedLength)
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    while true {
      rest = rest.drop(while: isSpace)
      if skip(from: "<?", to: "?>", &rest) || skip(from: "<!--", to: "-->", &rest) { continue }
      guard rest.first == UInt8(ascii: "<") else { return nil }
      rest = rest.dropFirst()
      if let declared = afterDocumentType(rest) { rest = declared.drop(while: isSpace) }
      // The end of a declaration or a comment is missing.
      guard rest.first != UInt8(ascii: "!"), rest.first != UInt8(ascii: "?") else { return nil }
      let name = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
      return name.split(separator: UInt8(ascii: ":")).last.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private static func afterDocumentType(_ rest: Data) -> Data? {
    let word = Data("!doctype".utf8)
    let start = rest.prefix(word.count)
    guard start.elementsEqual(word, by: { $0 | 0x20 == $1 | 0x20 }) else { return nil }
    return rest.dropFirst(word.count)
  }

  /// Removes a part of the prolog. Returns `false` if the content does not begin with this part, or does not contain
  /// its end.
  private static func skip(from start: String, to end: String, _ rest: inout Data) -> Bool {
    guard rest.starts(with: start.utf8), let range = rest.firstRange(of: Data(end.utf8)) else { return false }
    rest = rest[range.upperBound...]
    return true
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
