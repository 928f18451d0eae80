extension JSONWriter {
  /// Encodes a value by its `Encodable` conformance.
  public mutating func encode(_ value: some Encodable) throws {
    try JSONOutput(coding, depth: depth, stack: stack).text(of: value, depth) { text.append($0) }
  }
}
