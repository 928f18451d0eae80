import Foundation

/// A strict parser of `multipart/form-data` (RFC 7578).
enum MultipartForm {
  /// A part of a form.
  struct Part: Equatable, Sendable {
    let name: String
    let mediaType: String?
    let content: Data
  }

  /// Returns the boundary in the value of a `Content-Type`; `nil` for another media type.
  static func boundary(in field: String?) -> String? {
    let parts = (field ?? "").split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
    return parameter("boundary", in: parts).flatMap { (1...70).contains($0.utf8.count) ? $0 : nil }
  }

  /// Returns the parts of a form without text before the first or after the last boundary.
  ///
  /// - Throws: `Problem` with status 400 for malformed content.
  static func parts(of content: Data, boundary: String) throws(Problem) -> [Part] {
    let delimiter = Data("\r\n--\(boundary)".utf8)
    let opening = delimiter.dropFirst(2)
    guard content.starts(with: opening) else { throw malformed }
    var parts: [Part] = []
    var rest = content.dropFirst(opening.count)
    while rest.starts(with: Data("\r\n".utf8)) {
      rest = rest.dropFirst(2)
      guard let end = rest.range(of: delimiter) else { throw malformed }
      parts.append(try part(rest[rest.startIndex..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    guard rest == Data("--\r\n".utf8) || rest == Data("--".utf8) else { throw malformed }
    return parts
  }

  private static let malformed = Problem.badRequest("The content is not a multipart form.")

  private static func part(_ bytes: Data) throws(Problem) -> Part {
    guard let gap = bytes.range(of: Data("\r\n\r\n".utf8)),
      let head = String(data: bytes[bytes.startIndex..<gap.lowerBound], encoding: .utf8)
    else { throw malformed }
    var fields: [String: String] = [:]
    for line in head.components(separatedBy: "\r\n") {
      let pair = line.split(separator: ":", maxSplits: 1)
      guard pair.count == 2 else { throw malformed }
      fields[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
    }
    let disposition = (fields["content-disposition"] ?? "").split(separator: ";")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    guard disposition.first?.lowercased() == "form-data", let name = parameter("name", in: disposition) else {
      throw malformed
    }
    return Part(name: name, mediaType: fields["content-type"], content: Data(bytes[gap.upperBound...]))
  }

  /// Returns the value of a parameter without its quotes.
  private static func parameter(_ name: String, in parts: [String]) -> String? {
    for part in parts.dropFirst() where part.lowercased().hasPrefix("\(name)=") {
      let value = part.dropFirst(name.count + 1)
      return value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        ? String(value.dropFirst().dropLast()) : String(value)
    }
    return nil
  }
}
