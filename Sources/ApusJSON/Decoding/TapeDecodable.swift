/// A container of the standard library whose elements are decoded in a specialized loop.
protocol TapeDecodable {
  /// Decodes a value.
  ///
  /// - Parameter type: this type, as the generic parameter of the caller.
  static func decode<Output>(
    _ document: JSONDocument, _ position: Int, _ depth: Int, as type: Output.Type
  ) throws -> Output
}

extension Array: TapeDecodable where Element: Decodable {
  static func decode<Output>(
    _ document: JSONDocument, _ position: Int, _ depth: Int, as type: Output.Type
  ) throws -> Output {
    let elements = try document.elements(at: position, depth) { try document.decode(Element.self, at: $0, depth + 1) }
    return unsafeBitCast(elements, to: type)
  }
}

extension Dictionary: TapeDecodable where Key == String, Value: Decodable {
  static func decode<Output>(
    _ document: JSONDocument, _ position: Int, _ depth: Int, as type: Output.Type
  ) throws -> Output {
    let header = document.tape[position]
    guard header.isObject else { throw document.mismatch([String: Any].self, at: position) }
    try document.check(depth, at: position)
    var members: [String: Value] = [:]
    members.reserveCapacity(header.length)
    // Only the last of several members with the same name matters, even if an earlier member cannot be decoded.
    var failures: [String: (position: Int, error: any Error)] = [:]
    var name = JSONTape.start(of: position)
    while name < header.high {
      document.tape.setBookmark(of: position, to: name, ordinal: 0)
      let text = document.string(document.tape[name])
      do {
        members[text] = try document.decode(Value.self, at: name + 1, depth + 1)
        if !failures.isEmpty { failures[text] = nil }
      } catch {
        guard document.tape[position].kind == .indexedObject else { throw error }
        failures[text] = (name, error)
      }
      name = document.tape.position(after: name + 1)
    }
    if let failure = failures.values.min(by: { $0.position < $1.position }) { throw failure.error }
    return unsafeBitCast(members, to: type)
  }
}
