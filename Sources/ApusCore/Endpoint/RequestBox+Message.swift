import HTTPTypes

extension RequestBox {
  /// Lowers the description to what goes on the wire: pure, synchronous, complete and validated.
  ///
  /// A method of the box, which reads the description in place: one of its own would be called on a copy.
  ///
  /// - Parameters:
  ///   - base: where the server is.
  ///   - coding: coders and styles in force.
  ///   - commonAccept: what to ask for when the endpoint asks for JSON or nothing in particular.
  /// - Throws: ``CallFault`` with `invalidRequest` or `encoding`, naming the place.
  func message(at base: BaseURL.Parts, coding: CodingOptions, commonAccept: HTTPFields? = nil) throws -> RequestMessage
  {
    if let failure = description.failure { throw failure }
    if let reason = description.path.fault { throw CallFault(.invalidRequest, reason) }
    var head = HTTPRequest(
      method: description.method, scheme: base.origin.scheme, authority: base.authority,
      path: try target(at: base, style: coding),
      headerFields: (description.accept.isOpen ? commonAccept : nil)
        ?? FieldRules.accept(description.accept.mediaType(in: coding)))
    let content = try encodedContent(coding)
    if !content.isEmpty, let type = description.content.mediaType {
      head.headerFields.append(try FieldRules.field(RawField("Content-Type", type.description)))
    }
    for field in description.fields {
      let checked = try FieldRules.field(field)
      head.headerFields[fields: checked.name] = [checked]
    }
    return RequestMessage(head: head, content: content)
  }

  /// Base path, path, base query and query as one text.
  private func target(at base: BaseURL.Parts, style coding: CodingOptions) throws -> String {
    let path = description.path
    var target = base.path
    target.reserveCapacity(base.path.utf8.count + path.encoded.utf8.count + 1)
    if path.encoded.utf8.first != UInt8(ascii: "/"), !path.encoded.isEmpty { target += "/" }
    target += path.encoded
    if target.isEmpty { target = "/" }
    var separator = "?"
    for part in [base.query, path.query] {
      guard let part, !part.isEmpty else { continue }
      target += separator + part
      separator = "&"
    }
    guard !description.query.isEmpty else { return target }
    try Self.encoding {
      try QueryText.append(description.query, style: coding.effectiveQuery, after: separator, to: &target)
    }
    return target
  }

  private func encodedContent(_ coding: CodingOptions) throws -> MessageContent {
    try Self.encoding { try description.content.encode(coding) }
  }

  /// Makes one error of whatever a coder throws.
  private static func encoding<Result>(_ encode: () throws -> Result) throws -> Result {
    do {
      return try encode()
    } catch {
      throw CallFault(encoding: error)
    }
  }
}

extension CallFault {
  /// A value that a coder could not write.
  init(encoding error: any Error) {
    let failure = DecodingFailure(error)
    self.init(.encoding, failure.detail, codingPath: failure.codingPath, underlying: error)
  }
}
