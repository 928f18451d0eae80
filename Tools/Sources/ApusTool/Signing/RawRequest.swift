import Apus
import Foundation
import HTTPTypes

/// A parser of hand-written requests: an HTTP/1.1 message whose lines end with LF or CRLF, whose fields may continue on
/// the next lines, and whose target may contain spaces and UTF-8.
enum RawRequest {
  /// Returns the message, with the scheme `https`.
  ///
  /// - Throws: ``InputError`` with the number of the line.
  static func message(_ bytes: Data, place: String) throws(InputError) -> RequestMessage {
    var lines = Lines(bytes[...], place: place)
    guard let first = try lines.next(), !first.isEmpty else { throw lines.error("the request line is missing") }
    var head = try requestLine(first, lines)
    var fields: [(name: String, value: String)] = []
    while let line = try lines.next(), !line.isEmpty {
      if line.first == " " || line.first == "\t" {
        guard !fields.isEmpty else { throw lines.error("the first field line begins with white space") }
        fields[fields.count - 1].value += " " + line
      } else {
        guard let (name, value) = line.splitAtFirst(":") else { throw lines.error("a field line has no colon") }
        fields.append((name, value))
      }
    }
    for (name, value) in fields {
      guard let fieldName = HTTPField.Name(name) else { throw lines.error("“\(name)” is not the name of a field") }
      let text = value.trimmingCharacters(in: .whitespaces)
      if fieldName.canonicalName == "host" {
        guard head.authority == nil else { throw lines.error("there are two fields Host") }
        head.authority = text
      } else {
        head.headerFields.append(HTTPField(name: fieldName, value: text))
      }
    }
    guard head.authority?.isEmpty == false else { throw lines.error("the field Host is missing") }
    return RequestMessage(head: head, content: lines.rest.isEmpty ? .empty : .bytes(Data(lines.rest)))
  }

  private static func requestLine(_ line: String, _ lines: Lines) throws(InputError) -> HTTPRequest {
    guard let (method, rest) = line.splitAtFirst(" "), let method = HTTPRequest.Method(method) else {
      throw lines.error("the request line does not begin with a method")
    }
    guard let space = rest.lastIndex(of: " "), rest[space...].hasPrefix(" HTTP/") else {
      throw lines.error("the request line does not end with the version of HTTP")
    }
    let target = String(rest[..<space])
    guard target.hasPrefix("/") else { throw lines.error("the target does not begin with a slash") }
    return HTTPRequest(method: method, scheme: "https", authority: nil, path: target)
  }

  /// The lines of the head.
  private struct Lines {
    private(set) var rest: Data.SubSequence
    private let place: String
    private var number = 0

    init(_ bytes: Data.SubSequence, place: String) {
      rest = bytes
      self.place = place
    }

    /// Returns the next line without its end; `nil` at the end of the input.
    mutating func next() throws(InputError) -> String? {
      guard !rest.isEmpty else { return nil }
      number += 1
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      var line = rest[..<end]
      rest = rest[end...].dropFirst()
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      guard let text = String(validating: line, as: UTF8.self) else { throw error("it is not UTF-8") }
      return text
    }

    func error(_ reason: String) -> InputError {
      InputError(place: place, reason: "line \(max(1, number)): \(reason)")
    }
  }
}
