#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONCoding {
  /// Decodes a value from a JSON text in UTF-8 (RFC 8259).
  ///
  /// The text is parsed strictly, as by `JSONValue(parsing:)`: it may be nested 512 levels, and of members with the same
  /// name the last one is used. Models may be nested 128 levels, because decoding them takes the stack of the thread.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - bytes: the text, such as a `Data` or an array of bytes.
  /// - Throws: ``JSONError`` if the text is not valid JSON; `DecodingError` if it does not match the type, with a
  ///   ``JSONLocation`` as the underlying error; errors of the type itself.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: some ContiguousBytes) throws -> Value {
    if coder == .foundation { return try decodeByFoundation(type, from: bytes) }
    return try document(bytes).decode(type)
  }

  /// Encodes a value as JSON in UTF-8.
  ///
  /// The members of objects are sorted by name, so that equal values give equal bytes, for coalescing, signatures and
  /// recordings. Slashes are not escaped.
  ///
  /// - Throws: `EncodingError`; errors of the type itself.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    if coder == .foundation { return try encodeByFoundation(value) }
    return try JSONOutput.encode(value, self) { Data($0) }
  }

  /// Parses a text, to decode several values from it.
  ///
  /// - Throws: ``JSONError``.
  package func document(_ bytes: some ContiguousBytes) throws -> JSONDocument {
    try bytes.withUnsafeBytes { try JSONDocument($0, self) }
  }
}
