#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONCoding {
  /// Decodes a value from a JSON text in UTF-8 (RFC 8259).
  ///
  /// The text is parsed strictly, as by `JSONValue(parsing:)`: it may be nested up to 512 levels, and the last of
  /// several members with the same name is used. Models may be nested up to 128 levels, or fewer if decoding them would
  /// need more than 256 KiB of the thread's stack, which is possible for types with very many properties in a debug
  /// build. The smallest supported stack is 512 KiB. With ``Coder/foundation``, Foundation's rules and errors apply.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - bytes: the text, such as a `Data` or an array of bytes.
  /// - Throws: ``JSONError`` if the text is not valid JSON; `DecodingError` if it does not match the type, with a
  ///   ``JSONLocation`` as the underlying error; errors of the type itself.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: some ContiguousBytes) throws -> Value {
    if coder == .foundation { return try decodeByFoundation(type, from: bytes) }
    if DirectTypes.shared.isReadable(type), let readable = type as? any JSONReadable.Type {
      return try bytes.withUnsafeBytes { try read(readable, as: type, from: $0) }
    }
    return try document(bytes).decode(type)
  }

  /// Encodes a value as JSON in UTF-8.
  ///
  /// The members of objects are sorted by name, so that equal values yield equal bytes, for coalescing, signatures and
  /// recordings. Two exceptions: ``JSONWritable`` types write their members in the order of their calls, and the
  /// elements of a `Set` have no fixed order. Slashes are not escaped.
  ///
  /// - Throws: `EncodingError`, also for a value whose nested values would need more than 256 KiB of the thread's
  ///   stack; errors of the type itself.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    if coder == .foundation { return try encodeByFoundation(value) }
    // `JSONWriter` tracks no coding path. If it fails, the encoder runs again to produce the error.
    if DirectTypes.shared.isWritable(Value.self), let writable = value as? any JSONWritable,
      let data = try? JSONWriter.write(writable, self, { Data($0) })
    {
      return data
    }
    return try JSONOutput.encode(value, self) { Data($0) }
  }

  private func read<Readable: JSONReadable, Value>(
    _ readable: Readable.Type, as type: Value.Type, from bytes: UnsafeRawBufferPointer
  ) throws -> Value {
    let value = try JSONReader.read(readable, from: bytes, self)
    guard let value = value as? Value else { throw JSONError(.unexpectedByte, at: 0) }
    return value
  }

  /// Parses a text from which several values are decoded.
  ///
  /// - Throws: ``JSONError``.
  package func document(_ bytes: some ContiguousBytes) throws -> JSONDocument {
    try bytes.withUnsafeBytes { try JSONDocument($0, self) }
  }
}
