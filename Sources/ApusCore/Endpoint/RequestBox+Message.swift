import HTTPTypes

extension RequestBox {
  /// Returns the complete, validated request message. Pure and synchronous.
  ///
  /// - Parameters:
  ///   - base: the base URL.
  ///   - coding: the coders and styles in effect.
  ///   - commonAccept: the `Accept` field for endpoints that request JSON or no particular media type.
  /// - Throws: ``CallFault`` with `invalidRequest` or `encoding`.
  // A method of the box, because a method of the description would be called on a copy.
  func message(at base: BaseURL.Parts, coding: CodingOptions, commonAccept: HTTPFields? = nil) throws -> RequestMessage
  {
    if let failure = description.failure { throw failure }
    if let reason = description.path.fault {
      if description.path.isNamed { throw TransportError.namedURL(reason) }
      throw CallFault(.invalidRequest, reason)
    }
    let origin = description.path.origin
    var head = HTTPRequest(
      method: description.method, scheme: (origin ?? base.origin).scheme,
      authority: origin?.authority ?? base.authority,
      path: try target(at: base, style: coding),
      headerFields: (description.accept.isOpen ? commonAccept : nil)
        ?? FieldRules.accept(description.accept.mediaType(in: coding)))
    let content = try Self.encoding { try description.content.encode(coding) }
    if !content.isEmpty, let type = description.content.mediaType {
      head.headerFields.append(try FieldRules.field(RawField("Content-Type", type.description)))
    }
    if let fields = description.content.fields, !content.isEmpty {
      for field in try Self.encoding({ try fields(content) }) { head.headerFields.append(try FieldRules.field(field)) }
    }
    for field in description.fields {
      let checked = try FieldRules.field(field)
      if checked.name == .contentType { try checkBoundary(in: checked.value) }
      head.headerFields[fields: checked.name] = [checked]
    }
    return RequestMessage(head: head, content: content)
  }

  /// Throws if a field of the endpoint would replace the boundary of multipart content, without which no server can
  /// read it.
  private func checkBoundary(in value: String) throws {
    guard let boundary = description.content.mediaType?.parameter("boundary"),
      MediaType(value).parameter("boundary") != boundary
    else { return }
    throw CallFault(
      .invalidRequest, "the field Content-Type replaces the boundary of the multipart content; remove the field")
  }

  /// The request target: base path, path, base query and query. A complete URL ignores the base URL.
  private func target(at base: BaseURL.Parts, style coding: CodingOptions) throws -> String {
    let path = description.path
    let isURL = path.origin != nil
    var target = isURL ? "" : base.path
    target.reserveCapacity(target.utf8.count + path.encoded.utf8.count + 1)
    if path.encoded.utf8.first != UInt8(ascii: "/"), !path.encoded.isEmpty { target += "/" }
    target += path.encoded
    if target.isEmpty { target = "/" }
    var separator = "?"
    for part in [isURL ? nil : base.query, path.query] {
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

  /// Converts the errors of coders to ``CallFault``.
  private static func encoding<Result>(_ encode: () throws -> Result) throws -> Result {
    do {
      return try encode()
    } catch {
      throw CallFault(encoding: error)
    }
  }
}

extension CallFault {
  /// Creates a fault for a value that a coder could not encode.
  init(encoding error: any Error) {
    let failure = DecodingFailure(error)
    self.init(.encoding, failure.detail, codingPath: failure.codingPath, underlying: error)
  }
}
