import HTTPTypes
import NIOCore

@testable import ApusNIO

/// The fields of one field block of a client: the head or the trailers of a request (RFC 9113 §8.3.1).
struct RequestBlock: FieldReceiver {
  private(set) var fields: [HTTPField] = []
  /// The content length that the fields declare.
  private(set) var contentLength: Int?
  private var pseudoFields: [String: String] = [:]
  private var fault: String?

  mutating func take(_ field: HTTPField, _ facts: FieldFacts) {
    let name = field.name.rawName
    if let rule = facts.broken { return fail("the field \(name) breaks the rule \(rule)") }
    switch facts.role {
    case .other, .transferCodings: fields.append(field)
    case .contentLength:
      guard contentLength == nil, let length = Int(field.value), length >= 0 else { return fail("Content-Length") }
      contentLength = length
      fields.append(field)
    case .pseudo, .status:
      guard fields.isEmpty, [":method", ":scheme", ":authority", ":path"].contains(name) else {
        return fail("the pseudo-field \(name) is late or unknown")
      }
      if pseudoFields.updateValue(field.value, forKey: name) != nil { fail("the pseudo-field \(name) is repeated") }
    }
  }

  private mutating func fail(_ fault: String) {
    self.fault = self.fault ?? fault
  }

  /// Returns the head of the request.
  ///
  /// - Parameter scheme: the scheme that the connection requires.
  func head(scheme: String) throws(ClientViolation) -> RequestHead {
    if let fault { throw ClientViolation(fault) }
    guard let method = pseudoFields[":method"], let path = pseudoFields[":path"],
      let authority = pseudoFields[":authority"]
    else { throw ClientViolation("a request has only the pseudo-fields \(pseudoFields.keys.sorted())") }
    guard pseudoFields[":scheme"] == scheme else { throw ClientViolation("the scheme is not \(scheme)") }
    guard path.hasPrefix("/") || path == "*" else { throw ClientViolation("the path is \(path)") }
    // RFC 9113 §8.3.1: a client does not repeat :authority in Host.
    guard !fields.contains(where: { $0.name.rawName == "host" }) else { throw ClientViolation("a request has Host") }
    return RequestHead(method: method, path: path, authority: authority, fields: fields, contentLength: contentLength)
  }

  /// Returns the fields as trailers.
  func trailers() throws(ClientViolation) -> [HTTPField] {
    if let fault { throw ClientViolation(fault) }
    guard pseudoFields.isEmpty else { throw ClientViolation("trailers have pseudo-fields") }
    return fields
  }
}

/// The head of a request.
struct RequestHead {
  let method: String
  let path: String
  let authority: String
  let fields: [HTTPField]
  let contentLength: Int?

  /// Writes the head of an HTTP/1.1 request. `Via` has the number of the client's connection.
  func write(into buffer: inout ByteBuffer, isChunked: Bool, connection: Int) {
    buffer.writeString("\(method) \(path) HTTP/1.1\r\nHost: \(authority)\r\nVia: 2.0 \(connection)\r\n")
    if isChunked { buffer.writeString("Transfer-Encoding: chunked\r\n") }
    // A client may split cookies into several fields (RFC 9113 §8.2.3).
    let cookies = fields.filter { $0.name == .cookie }.map(\.value)
    if !cookies.isEmpty { buffer.writeString("Cookie: \(cookies.joined(separator: "; "))\r\n") }
    for field in fields where field.name != .cookie { field.write(into: &buffer) }
    buffer.writeString("\r\n")
  }
}

extension HTTPField {
  /// Writes an HTTP/1.1 field line.
  func write(into buffer: inout ByteBuffer) {
    buffer.writeString("\(name.rawName): ")
    withUnsafeBytesOfValue { _ = buffer.writeBytes($0) }
    buffer.writeString("\r\n")
  }
}
