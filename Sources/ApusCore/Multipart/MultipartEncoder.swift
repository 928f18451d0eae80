import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An encoder of multipart content (body) (RFC 2046 §5.1.1).
struct MultipartEncoder {
  let boundary: String
  let format: MultipartFormat

  /// Returns a boundary of 128 random bits, so that a server cannot predict it and no part contains it by chance.
  static func randomBoundary() -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<2).map { _ in
      let text = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
    return "apus-" + digits.joined()
  }

  /// Encodes all parts. Parts in memory become one piece.
  ///
  /// - Throws: ``CallFault`` that names the part.
  func content(of parts: [MultipartPart], _ options: CodingOptions) throws -> MessageContent {
    guard !parts.isEmpty else { throw CallFault(.encoding, "multipart content has no parts") }
    var joined = MultipartPieces()
    for (index, part) in parts.enumerated() {
      joined.append(Data("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8))
      do {
        try append(part, to: &joined, options)
      } catch {
        let failure = DecodingFailure(error)
        throw CallFault(
          .encoding, "part \(index + 1) of the multipart content: \(failure.detail)", codingPath: failure.codingPath,
          underlying: error)
      }
    }
    joined.append(Data("\r\n--\(boundary)--\r\n".utf8))
    return joined.content
  }

  private func append(_ part: MultipartPart, to joined: inout MultipartPieces, _ options: CodingOptions) throws {
    let content = try part.content.encode(options)
    var head = ""
    if let disposition = try disposition(of: part) { head += "Content-Disposition: \(disposition)\r\n" }
    if let type = part.content.mediaType {
      head += "Content-Type: \(try FieldRules.field(RawField("Content-Type", type.description)).value)\r\n"
    }
    for field in part.fields {
      let checked = try FieldRules.field(field)
      head += "\(checked.name.rawName): \(checked.value)\r\n"
    }
    joined.append(Data((head + "\r\n").utf8))
    joined.append(content)
  }

  private func disposition(of part: MultipartPart) throws -> String? {
    let isForm = format == .formData
    if part.name == nil, part.fileName == nil || isForm {
      if isForm { throw CallFault(.encoding, "a part of a form has no name") }
      return nil
    }
    var text = isForm ? "form-data" : "attachment"
    if let name = part.name { text += "; name=\"\(try Self.quoted(Self.withNetworkLineEnds(name)))\"" }
    if let name = part.fileName { text += "; filename=\"\(try Self.quoted(name))\"" }
    return text
  }

  /// Escapes a name as browsers do: LF, CR and the quotation mark are percent-encoded, all else is UTF-8 (WHATWG HTML,
  /// multipart/form-data).
  private static func quoted(_ name: String) throws -> String {
    var escaped = ""
    escaped.reserveCapacity(name.utf8.count)
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\n": escaped += "%0A"
      case "\r": escaped += "%0D"
      case "\"": escaped += "%22"
      case "\0"..<" ", "\u{7F}": throw CallFault(.encoding, "the name contains a control character")
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Replaces every CR, LF and CRLF by CRLF, as browsers do with the names of a form's fields.
  private static func withNetworkLineEnds(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else { return name }
    var lines = String.UnicodeScalarView()
    var previous: Unicode.Scalar?
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\n": if previous != "\r" { lines.append(contentsOf: "\r\n".unicodeScalars) }
      case "\r": lines.append(contentsOf: "\r\n".unicodeScalars)
      default: lines.append(scalar)
      }
      previous = scalar
    }
    return String(lines)
  }
}

/// Consecutive contents, in which adjacent bytes are joined into one piece.
private struct MultipartPieces {
  private var contents: [MessageContent] = []
  private var bytes = Data()

  mutating func append(_ data: Data) {
    bytes.append(data)
  }

  mutating func append(_ content: MessageContent) {
    switch content {
    case .empty: break
    case .bytes(let data): bytes.append(data)
    case .joined(let inner): for content in inner { append(content) }
    default:
      contents += [.bytes(bytes), content]
      bytes = Data()
    }
  }

  var content: MessageContent {
    contents.isEmpty ? .bytes(bytes) : .joined(contents + [.bytes(bytes)])
  }
}
