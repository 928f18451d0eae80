/// The elements of an array, in order.
///
/// The container fits in three words, so passing it as `any UnkeyedDecodingContainer` allocates nothing.
struct UnkeyedContainer: UnkeyedDecodingContainer {
  private let document: JSONDocument
  private let array: UInt32
  private let depth: UInt32
  private var next: UInt32
  private var index: UInt32 = 0

  init(_ document: JSONDocument, array: Int, depth: Int, _ missing: MissingValue? = nil) throws {
    guard document.tape[array].kind == .array else { throw document.mismatch([Any].self, at: array, missing) }
    try document.check(depth, at: array)
    self.document = document
    self.array = UInt32(truncatingIfNeeded: array)
    self.depth = UInt32(truncatingIfNeeded: depth)
    next = UInt32(truncatingIfNeeded: JSONTape.start(of: array))
  }

  var codingPath: [any CodingKey] { document.codingPath(of: Int(array)) }
  var count: Int? { document.tape[Int(array)].length }
  var currentIndex: Int { Int(index) }
  var isAtEnd: Bool { Int(next) >= document.tape[Int(array)].high }

  /// Decodes the next element, and advances only if decoding succeeds.
  @inline(__always) private mutating func element<T>(_ type: Any.Type, _ decode: (Int) throws -> T) throws -> T {
    let position = Int(next)
    guard position < document.tape[Int(array)].high else { throw ended(type) }
    document.tape.setBookmark(of: Int(array), to: position, ordinal: Int(index))
    let value = try decode(position)
    next = UInt32(truncatingIfNeeded: document.tape.position(after: position))
    index += 1
    return value
  }

  @inline(never) private func ended(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      document.context(
        "The array has no more elements", at: Int(array), in: codingPath + [JSONKey(index: currentIndex)]))
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw ended(Any?.self) }
    guard document.isNull(Int(next)) else { return false }
    next += 1
    index += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try element(type) { [document] in try document.bool(at: $0) }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try element(type) { [document] in try document.string(at: $0) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try element(type) { [document] in try document.double(at: $0) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try element(type) { [document] in try document.float(at: $0) }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try element(type) { [document] in try document.integer(at: $0) }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try element(type) { [document] in try document.integer(type, at: $0) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try element(type) { [document] in try document.integer(type, at: $0) }
  }
  mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
    try element(type) { [document] in try document.integer(type, at: $0) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try element(type) { [document, depth] in try document.decode(type, at: $0, Int(depth) + 1) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try element(KeyedDecodingContainer<NestedKey>.self) { [document, depth] in
      KeyedDecodingContainer(try KeyedContainer<NestedKey>(document, object: $0, depth: Int(depth) + 1))
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element((any UnkeyedDecodingContainer).self) { [document, depth] in
      try UnkeyedContainer(document, array: $0, depth: Int(depth) + 1)
    }
  }

  mutating func superDecoder() throws -> any Decoder {
    try element((any Decoder).self) { [document, depth] in
      ValueDecoder(document: document, position: $0, depth: Int(depth) + 1)
    }
  }
}
