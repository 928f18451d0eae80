extension JSONWriter {
  /// Encodes a value by its `Encodable` conformance.
  public mutating func encode(_ value: some Encodable) throws {
    try JSONOutput.encode(value, coding, depth: depth) { text.append($0) }
  }
}
