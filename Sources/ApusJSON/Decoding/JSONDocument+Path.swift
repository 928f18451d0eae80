// Lookup of the keys that requests and envelopes name. A key matches as written or, with a snake-case coding, in camel
// case.
extension JSONDocument {
  /// Decodes the value at a key path.
  package func decode<T: Decodable>(_ type: T.Type, at keys: [String]) throws -> T {
    var position = JSONTape.root
    for key in keys {
      try requireObject(at: position)
      guard let value = member(key, of: position) else { throw missing(key, in: position) }
      position = value
    }
    return try decode(type, at: position, keys.count)
  }

  /// Decodes a member of the top-level object. A missing member is decoded as `null`.
  package func decode<T: Decodable>(_ type: T.Type, ifPresentAt key: String) throws -> T {
    try requireObject()
    if let position = member(key, of: JSONTape.root) { return try decode(type, at: position, 1) }
    guard let absent = try? decode(type, at: JSONTape.null, 1) else { throw missing(key, in: JSONTape.root) }
    return absent
  }

  /// The member of the top-level object; `nil` if there is no such member or the text is not an object.
  package subscript(key: String) -> JSONValue? {
    guard tape[JSONTape.root].isObject else { return nil }
    return member(key, of: JSONTape.root).map { tape.value(at: $0) }
  }

  /// Throws unless the text is an object.
  package func requireObject() throws { try requireObject(at: JSONTape.root) }

  private func requireObject(at position: Int) throws {
    guard tape[position].isObject else { throw mismatch([String: Any].self, at: position) }
  }

  /// Returns the error for a member that the top-level object does not have.
  package func missing(_ key: String) -> DecodingError { missing(key, in: JSONTape.root) }

  func missing(_ key: String, in object: Int) -> DecodingError {
    .keyNotFound(
      JSONKey(key, isWrittenInSource: true), context("A key is missing from the object", at: object))
  }

  private func member(_ key: String, of object: Int) -> Int? {
    position(of: key, in: object, isWrittenInSource: true)
      ?? position(of: key.camelCased, in: object, isWrittenInSource: true)
  }
}
