import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A reader of XML documents in UTF-8 (XML 1.0), as web services send them.
///
/// Every input results in a tree or an error, in linear time and without recursion. Document type declarations are
/// errors, so the only entities are the five predefined entities and character references. Attributes are checked and
/// discarded; namespaces are not resolved.
struct XMLReader {
  /// The limits of a document.
  struct Limits: Hashable, Sendable {
    /// The maximum number of bytes. A list of 1,000 percent-encoded keys of 1,024 bytes has 4 MiB.
    var bytes = 16 << 20
    /// The maximum nesting depth of elements.
    var depth = 32
    /// The maximum number of elements.
    var elements = 100_000
  }

  /// An element whose end tag has not been read.
  private struct Open {
    let name: Range<Int>
    var text: [UInt8] = []
    var children: [XMLTree] = []
  }

  private let bytes: [UInt8]
  private let limits: Limits
  private var position = 0
  private var open: [Open] = []
  private var elements = 0
  private var root: XMLTree?

  private init(_ bytes: [UInt8], _ limits: Limits) {
    (self.bytes, self.limits) = (bytes, limits)
  }

  /// Reads a document.
  ///
  /// - Returns: the root element.
  static func read(_ data: Data, _ limits: Limits = Limits()) throws(XMLFailure) -> XMLTree {
    guard data.count <= limits.bytes else { throw .tooLarge }
    guard String(validating: data, as: UTF8.self) != nil else { throw .notUTF8 }
    var reader = XMLReader([UInt8](data), limits)
    return try reader.document()
  }

  // MARK: Document

  private mutating func document() throws(XMLFailure) -> XMLTree {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<") { try markup() } else { try characters() }
    }
    guard let root, open.isEmpty else { throw failure }
    return root
  }

  private mutating func markup() throws(XMLFailure) {
    if take("<?") {
      try skip(past: "?>")
    } else if take("<!--") {
      try skip(past: "-->")
    } else if take("<![CDATA[") {
      let start = position
      try skip(past: "]]>")
      guard !open.isEmpty else { throw failure }
      append(bytes[start..<position - 3])
    } else if starts(with: "<!") {
      throw .documentType
    } else if take("</") {
      try endTag()
    } else {
      position += 1
      try startTag()
    }
  }

  // MARK: Tags

  private mutating func startTag() throws(XMLFailure) {
    guard root == nil || !open.isEmpty else { throw failure }
    let name = try name()
    elements += 1
    guard open.count < limits.depth, elements <= limits.elements else { throw .tooLarge }
    while true {
      let hasSpace = skipSpace()
      if take(">") {
        open.append(Open(name: name))
        return
      }
      if take("/>") {
        finish(Open(name: name))
        return
      }
      guard hasSpace else { throw failure }
      try attribute()
    }
  }

  private mutating func attribute() throws(XMLFailure) {
    _ = try name()
    skipSpace()
    guard take("=") else { throw failure }
    skipSpace()
    guard position < bytes.count else { throw failure }
    let quote = bytes[position]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw failure }
    position += 1
    while position < bytes.count, bytes[position] != quote {
      guard bytes[position] != UInt8(ascii: "<") else { throw failure }
      position += 1
    }
    guard position < bytes.count else { throw failure }
    position += 1
  }

  private mutating func endTag() throws(XMLFailure) {
    let name = try name()
    skipSpace()
    guard take(">"), let last = open.popLast(), bytes[name] == bytes[last.name] else { throw failure }
    finish(last)
  }

  private mutating func finish(_ element: Open) {
    let local = bytes[element.name].split(separator: UInt8(ascii: ":")).last ?? bytes[element.name]
    let tree = XMLTree(
      String(decoding: local, as: UTF8.self), text: String(decoding: element.text, as: UTF8.self),
      children: element.children)
    if open.isEmpty { root = tree } else { open[open.count - 1].children.append(tree) }
  }

  private mutating func name() throws(XMLFailure) -> Range<Int> {
    let start = position
    while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
    guard position > start, !Self.isNoStart(bytes[start]) else { throw failure }
    return start..<position
  }

  // MARK: Text

  private mutating func characters() throws(XMLFailure) {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "<"), bytes[position] != UInt8(ascii: "&") {
      position += 1
    }
    // White space is allowed outside of the root element, even before the declaration: services send it while they
    // compute a response.
    if open.isEmpty {
      guard bytes[start..<position].allSatisfy(Self.isSpace), position == bytes.count || peek != UInt8(ascii: "&")
      else { throw failure }
      return
    }
    append(bytes[start..<position])
    if position < bytes.count, peek == UInt8(ascii: "&") { try reference() }
  }

  /// Appends text with its line ends converted as XML requires (§2.11).
  private mutating func append(_ text: ArraySlice<UInt8>) {
    let last = open.count - 1
    guard text.contains(UInt8(ascii: "\r")) else {
      open[last].text += text
      return
    }
    var previous: UInt8 = 0
    for byte in text {
      defer { previous = byte }
      if byte == UInt8(ascii: "\n"), previous == UInt8(ascii: "\r") { continue }
      open[last].text.append(byte == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : byte)
    }
  }

  private mutating func reference() throws(XMLFailure) {
    // The longest reference is `&#x10FFFF;`.
    let end = bytes[position...].prefix(16).firstIndex(of: UInt8(ascii: ";"))
    guard let end else { throw failure }
    let name = String(decoding: bytes[position + 1..<end], as: UTF8.self)
    guard let character = Self.character(name) else { throw failure }
    position = end + 1
    open[open.count - 1].text += Array(String(Character(character)).utf8)
  }

  private static func character(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let isHexadecimal = name.hasPrefix("#x")
      let digits = name.dropFirst(isHexadecimal ? 2 : 1)
      guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), number != 0
      else { return nil }
      return Unicode.Scalar(number)
    }
  }

  // MARK: Bytes

  private var failure: XMLFailure { .malformed(offset: position) }

  private var peek: UInt8 { bytes[position] }

  private func starts(with text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    return text.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + count]) }
  }

  private mutating func take(_ text: StaticString) -> Bool {
    guard starts(with: text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  private mutating func skip(past end: StaticString) throws(XMLFailure) {
    while position < bytes.count {
      if take(end) { return }
      position += 1
    }
    throw failure
  }

  @discardableResult
  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"),
      UInt8(ascii: "."), 0x80...:
      true
    default: false
    }
  }

  private static func isNoStart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// The reason why a document cannot be read.
enum XMLFailure: LoggableError, Hashable {
  /// The document exceeds the limits of bytes, elements or depth.
  case tooLarge
  /// The bytes are not UTF-8.
  case notUTF8
  /// The document has a document type declaration, which could define entities.
  case documentType
  /// The document is malformed at this offset.
  case malformed(offset: Int)
  /// The document lacks a required element.
  case missing(String)

  /// The reason as a clause, without text of the document.
  var description: String {
    switch self {
    case .tooLarge: "the XML document is too large"
    case .notUTF8: "the XML document is not UTF-8"
    case .documentType: "the XML document has a document type declaration"
    case .malformed(let offset): "the XML document is malformed at byte \(offset)"
    case .missing(let name): "the XML document has no element \(name)"
    }
  }
}
