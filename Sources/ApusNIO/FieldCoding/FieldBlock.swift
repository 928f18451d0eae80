import HTTPTypes

/// The fields of one field block: the head or the trailers of a response (RFC 9113 §8.1).
///
/// Only the stream knows whether a field block is a head or trailers. ``head()`` and ``trailers()`` therefore check the
/// rules that differ.
struct FieldBlock: Sendable, FieldReceiver {
  private var budget: FramingBudget
  private var code: Int?
  private var fields = HTTPFields()
  private var hasField = false
  /// The content length that the fields declare.
  private(set) var contentLength: Int64?
  /// The size of the header list: the bytes of all fields, plus 32 for each field (RFC 9113 §10.5.1).
  private(set) var size = 0
  /// The number of fields, including the pseudo-header fields.
  private(set) var count = 0
  /// The first fault. If a fault occurs, the fields are discarded.
  private(set) var fault: FieldFault?

  /// - Parameter expected: the expected number of fields.
  init(limits: FramingLimits, expecting expected: Int = 16) {
    budget = FramingBudget(limits)
    fields.reserveCapacity(expected)
  }

  /// Returns the field block as the head of a final or interim response.
  func head() throws(FieldFault) -> HTTPResponse {
    if let fault { throw fault }
    guard let code else { throw FieldFault(.missingStatus) }
    return HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
  }

  /// Returns the field block as trailers.
  func trailers() throws(FieldFault) -> HTTPFields {
    if let fault { throw fault }
    guard code == nil else { throw FieldFault(.pseudoFieldInTrailers) }
    return fields
  }

  @inline(__always)
  mutating func take(_ field: HTTPField, _ facts: FieldFacts) {
    guard fault == nil else { return }
    size += facts.size
    count += 1
    do throws(FramingError) {
      try budget.takeLine(facts.size)
      try budget.takeField()
    } catch {
      return fail(error.kind == .tooManyFields ? .tooManyFields : .fieldsTooLarge)
    }
    if let rule = facts.broken { return fail(rule, field.name) }
    switch facts.role {
    case .other, .transferCodings: append(field)
    case .contentLength: takeContentLength(field)
    case .status: takeStatus(field)
    case .pseudo: fail(.unknownPseudoField, field.name)
    }
  }

  @inline(__always)
  private mutating func append(_ field: HTTPField) {
    hasField = true
    fields.append(field)
  }

  private mutating func fail(_ rule: FieldFault.Rule, _ name: HTTPField.Name? = nil) {
    let isNamed = rule != .malformedName && rule != .upperCaseName
    fields = HTTPFields()
    fault = FieldFault(rule, isNamed ? name?.canonicalName ?? "" : "")
  }

  private mutating func takeStatus(_ field: HTTPField) {
    guard !hasField else { return fail(.latePseudoField, field.name) }
    guard code == nil else { return fail(.repeatedPseudoField, field.name) }
    let code = field.withUnsafeBytesOfValue { digits in
      guard digits.count == 3 else { return 0 }
      var code = 0
      for digit in digits {
        guard Octet.isDigit(digit) else { return 0 }
        code = code * 10 + Int(digit &- UInt8(ascii: "0"))
      }
      return code
    }
    guard code >= 100 else { return fail(.malformedStatus) }
    guard code != 101 else { return fail(.switchingProtocols) }
    self.code = code
  }

  /// Accepts equal lengths in a list or in repeated fields, as HTTP/1.1 does, and merges the lengths into one field.
  private mutating func takeContentLength(_ field: HTTPField) {
    let (length, isList): (Int64, Bool)
    do throws(FramingError) {
      (length, isList) = try field.withUnsafeBytesOfValue { value throws(FramingError) in
        try FieldSection.contentLength(UnsafeRawBufferPointer(value))
      }
    } catch {
      return fail(error.kind == .conflictingContentLength ? .conflictingContentLength : .malformedContentLength)
    }
    guard let known = contentLength else {
      contentLength = length
      return append(isList ? HTTPField(name: field.name, value: "\(length)") : field)
    }
    if known != length { fail(.conflictingContentLength) }
  }
}
