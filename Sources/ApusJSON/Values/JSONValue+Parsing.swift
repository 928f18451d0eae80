extension JSONValue {
  /// Parses a JSON text in UTF-8 (RFC 8259).
  ///
  /// The parser is strict: comments, trailing commas, leading zeros, bytes after the value, invalid UTF-8 and lone
  /// surrogates are errors. A leading byte order mark is ignored. The last of several members with the same name is
  /// used.
  ///
  /// - Parameters:
  ///   - bytes: the text; pass the `utf8` of a string.
  ///   - limits: the limits. Default: 512 levels and 512 MiB.
  /// - Throws: ``JSONError``.
  public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    if let greatest = limits.bytes, bytes.count > greatest { throw JSONError(.tooLarge, at: greatest) }
    let read = { (bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONError> in
      Result { () throws(JSONError) in
        let tape = try TapeParser.parse(UnsafeRawBufferPointer(bytes), limits: limits)
        return tape.value(at: JSONTape.root)
      }
    }
    self = try (bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)).get()
  }
}
