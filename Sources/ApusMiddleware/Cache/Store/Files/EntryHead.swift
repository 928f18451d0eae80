import HTTPTypes

/// The part of an entry's file that describes its response, without the content.
///
/// The bytes contain no URL and no credentials: secrets in the values of fields that `Vary` names are sealed, see
/// ``CacheVariant``.
struct EntryHead: Hashable, Sendable {
  var response: StoredResponse
  /// The digests of the response's groups; see ``CacheSubjects``.
  var groups: [KeyedDigest]

  /// The bytes of the head.
  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 1024)
    writer.write(response.method.rawValue)
    writer.write(UInt16(truncatingIfNeeded: response.status.code))
    writer.write(response.status.reasonPhrase)
    writer.write(UInt32(truncatingIfNeeded: response.fields.count))
    for field in response.fields {
      writer.write(field.name.rawName)
      field.withUnsafeBytesOfValue { writer.write(UnsafeRawBufferPointer($0)) }
    }
    write(response.variant, to: &writer)
    writer.write(response.exchange.requestTime.wall)
    writer.write(response.exchange.responseTime.wall)
    writer.write(response.exchange.generation)
    writer.write(response.endpointLifetime)
    writer.write(response.contentLength)
    writer.write(UInt8(response.servesRanges ? 1 : 0) | (response.isInvalidated ? 2 : 0))
    writer.write(UInt32(truncatingIfNeeded: response.endpointGroups.count))
    for group in response.endpointGroups.sorted() { writer.write(group) }
    writer.write(UInt32(truncatingIfNeeded: groups.count))
    for group in groups { writer.write(group) }
    return writer.bytes
  }

  private func write(_ variant: CacheVariant, to writer: inout ByteWriter) {
    writer.write(UInt32(truncatingIfNeeded: variant.values.count))
    for (name, value) in variant.values.sorted(by: { $0.key < $1.key }) {
      writer.write(name)
      writer.write(value)
    }
    writer.write(UInt32(truncatingIfNeeded: variant.absentNames.count))
    for name in variant.absentNames.sorted() { writer.write(name) }
  }
}

extension EntryHead {
  /// Reads the bytes of a head.
  ///
  /// - Throws: ``ByteReader/Failure`` if they are damaged.
  init(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Failure) {
    var reader = ByteReader(bytes)
    guard let method = HTTPRequest.Method(try reader.text()) else { throw ByteReader.Failure() }
    let code = Int(try reader.number(UInt16.self))
    guard (100..<1000).contains(code) else { throw ByteReader.Failure() }
    let status = HTTPResponse.Status(code: code, reasonPhrase: try reader.text())
    let fields = try Self.fields(&reader)
    let variant = try Self.variant(&reader)
    let exchange = CacheExchange(
      requestTime: CacheInstant(wall: try reader.number()), responseTime: CacheInstant(wall: try reader.number()),
      generation: try reader.number())
    let head = HTTPResponse(status: status, headerFields: fields)
    response = StoredResponse(head, method: method, variant: variant, during: exchange)
    response.endpointLifetime = try reader.optionalNumber()
    response.contentLength = try reader.optionalNumber()
    let flags = try reader.number(UInt8.self)
    (response.servesRanges, response.isInvalidated) = (flags & 1 != 0, flags & 2 != 0)
    response.endpointGroups = try Self.texts(&reader)
    groups = []
    for _ in 0..<(try reader.count(ofSize: 16)) { groups.append(try reader.digest()) }
    guard reader.isAtEnd else { throw ByteReader.Failure() }
  }

  private static func fields(_ reader: inout ByteReader) throws(ByteReader.Failure) -> HTTPFields {
    var fields = HTTPFields()
    let count = try reader.count(ofSize: 8)
    fields.reserveCapacity(count)
    for _ in 0..<count {
      guard let name = HTTPField.Name(try reader.text()) else { throw ByteReader.Failure() }
      fields.append(HTTPField(name: name, value: try reader.bytes()))
    }
    return fields
  }

  private static func variant(_ reader: inout ByteReader) throws(ByteReader.Failure) -> CacheVariant {
    var values: [String: String] = [:]
    for _ in 0..<(try reader.count(ofSize: 8)) {
      let name = try reader.text()
      values[name] = try reader.text()
    }
    return CacheVariant(values: values, absentNames: try texts(&reader))
  }

  private static func texts(_ reader: inout ByteReader) throws(ByteReader.Failure) -> Set<String> {
    var texts: Set<String> = []
    for _ in 0..<(try reader.count(ofSize: 4)) { texts.insert(try reader.text()) }
    return texts
  }
}
