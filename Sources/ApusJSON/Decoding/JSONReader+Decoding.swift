extension JSONReader {
  /// Decodes a value by its `Decodable` conformance.
  public mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    cursor.skipWhitespace()
    let start = cursor.offset
    try skip()
    let bytes = UnsafeRawBufferPointer(start: cursor.text + start, count: cursor.offset - start)
    do {
      return try JSONDocument(bytes, coding, stack: stack).decodeByConformance(type, depth: depth)
    } catch let error as DecodingError {
      throw JSONReadError(.decoding(error), at: start)
    } catch let error as JSONError {
      throw JSONError(error.reason, at: start + error.offset)
    }
  }
}

extension JSONDocument {
  /// Decodes the value of the text by its type's `Decodable` conformance, even if the type is `JSONReadable`, because
  /// its `init(from:)` may call this function.
  fileprivate func decodeByConformance<T: Decodable>(_ type: T.Type, depth: Int) throws -> T {
    guard types[type] == .readable else { return try decode(type, depth: depth) }
    return try type.init(from: ValueDecoder(document: self, position: JSONTape.root, depth: depth))
  }

  /// Reads a value of a `JSONReadable` type from its text in the document.
  func decodeReadable<T: Decodable>(_ type: T.Type, at position: Int, _ depth: Int) throws -> T {
    guard position != JSONTape.null, let readable = readable(type) else {
      return try type.init(from: ValueDecoder(document: self, position: position, depth: depth))
    }
    return try read(readable, at: position, depth)
  }

  /// Casts a type to `JSONReadable`. The last type is cached, because a cast takes longer than reading a small value.
  private func readable(_ type: Any.Type) -> (any JSONReadable.Type)? {
    if let lastReadable, lastReadable == type { return lastReadable }
    lastReadable = type as? any JSONReadable.Type
    return lastReadable
  }

  private func read<Value: JSONReadable, T>(_ type: Value.Type, at position: Int, _ depth: Int) throws -> T {
    var cursor = JSONCursor(text: tape.bytes, count: tape.byteCount)
    cursor.offset = tape.offset(of: position)
    var reader = JSONReader(cursor, coding, depth: depth, stack: stack)
    do {
      let value = try Value(from: &reader)
      reader.cursor.skipWhitespace()
      guard reader.depth == depth, reader.cursor.isAtEndOfValue else { throw reader.cursor.error(.trailingBytes) }
      return unsafeBitCast(value, to: T.self)
    } catch let error as JSONReadError {
      throw self.error(for: error, in: position)
    }
  }
}
