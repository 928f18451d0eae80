extension JSONValue {
  /// Reads a JSON text in UTF-8 (RFC 8259).
  ///
  /// Strict: no comments, no trailing commas, no leading zeros, no bytes behind the value, no invalid UTF-8 and no lone
  /// surrogates. A byte order mark at the beginning is ignored. The last of several members with one name counts.
  ///
  /// - Parameters:
  ///   - bytes: the text; a string's is its `utf8`.
  ///   - limits: default: 512 levels, any number of bytes.
  /// - Throws: ``JSONError``.
  public init(parsing bytes: some Collection<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
    self = try Self.parse(bytes, limits, isWanted: nil)
  }

  /// Reads a JSON text in UTF-8, and of an object at the top only some members.
  ///
  /// The whole text is checked as by ``init(parsing:limits:)``, but nothing is kept of the other members.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - limits: default: 512 levels, any number of bytes.
  ///   - isWanted: whether the member with this name is kept.
  /// - Throws: ``JSONError``.
  public init(
    parsing bytes: some Collection<UInt8>, limits: JSONLimits = .standard, keeping isWanted: (String) -> Bool
  ) throws(JSONError) {
    self = try withoutActuallyEscaping(isWanted) { isWanted throws(JSONError) in
      try Self.parse(bytes, limits, isWanted: isWanted)
    }
  }

  private static func parse(
    _ bytes: some Collection<UInt8>, _ limits: JSONLimits, isWanted: ((String) -> Bool)?
  ) throws(JSONError) -> JSONValue {
    if let greatest = limits.bytes, bytes.count > greatest { throw JSONError(.tooLarge, at: greatest) }
    let read = { (bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONError> in
      var parser = JSONParser(bytes, limits: limits, isWanted: isWanted)
      return Result { () throws(JSONError) in try parser.parse() }
    }
    return try (bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)).get()
  }
}
