import HTTPTypes

/// A section of field lines, and the message framing that these lines declare (RFC 9112 §5, §6).
///
/// Everything is checked before it becomes an `HTTPField`, which silently replaces forbidden bytes and traps on
/// very large counts. A value is converted to a string once; a common name needs no conversion.
struct FieldSection: Sendable {
  /// The framing and persistence that the fields declare.
  struct Facts: Sendable, Equatable {
    fileprivate(set) var contentLength: Int64?
    fileprivate(set) var isChunked = false
    /// Whether `Connection` has the option `close`.
    fileprivate(set) var closes = false
    /// Whether `Connection` has the option `keep-alive`.
    fileprivate(set) var keepsAlive = false
    /// The first fault in a framing field. Ignored in responses whose framing these fields do not define.
    fileprivate(set) var fault: FramingError?
  }

  private var fields = HTTPFields()
  private(set) var facts = Facts()

  init() {
    fields.reserveCapacity(16)
  }

  /// Adds a field line, without its line end.
  mutating func add(_ line: UnsafeRawBufferPointer) throws(FramingError) {
    var colon = 0
    while colon < line.count, line[colon] != Octet.colon { colon += 1 }
    guard colon < line.count,
      let (name, role) = FieldNames.shared.find(UnsafeRawBufferPointer(rebasing: line[..<colon]))
    else { throw Self.malformedName(line) }
    let value = Octet.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
    let text = Octet.text(value)
    guard text != .forbidden else {
      throw FramingError(.malformedFieldValue, "the value of \(name.canonicalName) contains a control character")
    }
    switch role {
    case .other: break
    case .contentLength:
      do throws(FramingError) { return try addContentLength(value, name) } catch {
        facts.fault = facts.fault ?? error
      }
    case .transferEncoding:
      do throws(FramingError) { try takeTransferEncoding(value) } catch { facts.fault = facts.fault ?? error }
    case .connection: takeConnection(value)
    }
    fields.append(Self.field(name, value, text))
  }

  /// Returns the fields and resets the section.
  mutating func finish() -> HTTPFields {
    let all = fields
    fields = HTTPFields()
    // The next response on a connection usually has as many fields.
    fields.reserveCapacity(all.count)
    facts = Facts()
    return all
  }

  private static func field(
    _ name: HTTPField.Name, _ value: UnsafeRawBufferPointer, _ text: Octet.Text
  ) -> HTTPField {
    if text == .ascii { return HTTPField(name: name, value: Octet.string(value)) }
    // Creates the field from bytes, so that values that are not UTF-8 are preserved.
    return HTTPField(name: name, value: value)
  }

  private static func malformedName(_ line: UnsafeRawBufferPointer) -> FramingError {
    let end = line.firstIndex { !Octet.isToken($0) } ?? line.endIndex
    guard end < line.count, Octet.isBlank(line[end]) else {
      return FramingError(.malformedFieldName, "a field line has no colon or a name that is not a token")
    }
    if end == 0 { return FramingError(.foldedField, "a field line begins with white space") }
    return FramingError(.spaceBeforeColon, "white space follows a field's name")
  }
}

// MARK: Fields that frame the message

extension FieldSection {
  /// Accepts one number, or equal numbers in a list or in repeated fields (RFC 9110 §8.6, RFC 9112 §6.3). The resulting
  /// fields contain the number once.
  private mutating func addContentLength(_ value: UnsafeRawBufferPointer, _ name: HTTPField.Name) throws(FramingError) {
    let hadLength = facts.contentLength != nil
    var start = 0
    while true {
      let end = value[start...].firstIndex(of: Octet.comma) ?? value.endIndex
      let length = try Self.number(Octet.trimmed(UnsafeRawBufferPointer(rebasing: value[start..<end])))
      guard facts.contentLength == nil || facts.contentLength == length else {
        throw FramingError(.conflictingContentLength, "the response has several lengths")
      }
      facts.contentLength = length
      guard end < value.endIndex else { break }
      start = end + 1
    }
    guard !hadLength else { return }
    fields.append(
      start == 0 ? Self.field(name, value, .ascii) : HTTPField(name: name, value: "\(facts.contentLength ?? 0)"))
  }

  private static func number(_ digits: UnsafeRawBufferPointer) throws(FramingError) -> Int64 {
    var number: Int64 = 0
    for byte in digits {
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isEvenTooLarge) = tens.addingReportingOverflow(Int64(byte &- UInt8(ascii: "0")))
      guard Octet.isDigit(byte), !isTooLarge, !isEvenTooLarge else {
        throw FramingError(.malformedContentLength, "the content's length is not a number or is too large")
      }
      number = sum
    }
    guard !digits.isEmpty else { throw FramingError(.malformedContentLength, "the content's length is empty") }
    return number
  }

  /// Accepts only a single `chunked`, because the request offered no other transfer coding (RFC 9110 §10.1.4).
  private mutating func takeTransferEncoding(_ value: UnsafeRawBufferPointer) throws(FramingError) {
    guard !facts.isChunked, Octet.spells(value, "chunked") else {
      throw FramingError(.malformedTransferEncoding, "the transfer coding is not a single chunked")
    }
    facts.isChunked = true
  }

  /// Reads the connection options (RFC 9110 §7.6.1).
  private mutating func takeConnection(_ value: UnsafeRawBufferPointer) {
    var start = 0
    while start < value.count {
      let end = value[start...].firstIndex(of: Octet.comma) ?? value.endIndex
      let option = Octet.trimmed(UnsafeRawBufferPointer(rebasing: value[start..<end]))
      start = end + 1
      if Octet.spells(option, "close") { facts.closes = true }
      if Octet.spells(option, "keep-alive") { facts.keepsAlive = true }
    }
  }
}
