/// A decoder of one value of a document.
///
/// The decoder fits in three words, so passing it as `any Decoder` allocates nothing.
struct ValueDecoder: Decoder {
  let document: JSONDocument
  private let packed: UInt64
  /// The coding path of a value that is missing in the text, such as the value of a superclass.
  private let missing: MissingValue?

  @inline(__always) init(document: JSONDocument, position: Int, depth: Int, missing: MissingValue? = nil) {
    self.document = document
    packed = UInt64(truncatingIfNeeded: position) | UInt64(truncatingIfNeeded: depth) << 32
    self.missing = missing
  }

  var position: Int { Int(truncatingIfNeeded: packed & 0xFFFF_FFFF) }
  var depth: Int { Int(truncatingIfNeeded: packed >> 32) }

  var codingPath: [any CodingKey] { missing?.codingPath ?? document.codingPath(of: position) }
  var userInfo: [CodingUserInfoKey: Any] { document.coding.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try KeyedContainer<Key>(document, object: position, depth: depth, missing))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedContainer(document, array: position, depth: depth, missing)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

/// A value that is missing in the text and decoded as `null`.
final class MissingValue {
  let codingPath: [any CodingKey]
  init(_ codingPath: [any CodingKey]) { self.codingPath = codingPath }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { document.isNull(position) }
  func decode(_ type: Bool.Type) throws -> Bool { try document.bool(at: position) }
  func decode(_ type: String.Type) throws -> String { try document.string(at: position) }
  func decode(_ type: Double.Type) throws -> Double { try document.double(at: position) }
  func decode(_ type: Float.Type) throws -> Float { try document.float(at: position) }
  func decode(_ type: Int.Type) throws -> Int { try document.integer(at: position) }
  func decode(_ type: Int128.Type) throws -> Int128 { try document.integer(type, at: position) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try document.integer(type, at: position) }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try document.integer(type, at: position) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try document.decode(type, at: position, depth) }
}

/// The members of an object.
struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let document: JSONDocument
  private let packedObject: UInt32
  private let packedDepth: UInt16
  /// The class of the key type; 0 while it is unknown.
  private let keyClass: UInt8

  init(_ document: JSONDocument, object: Int, depth: Int, _ missing: MissingValue? = nil) throws {
    guard document.tape[object].isObject else { throw document.mismatch([String: Any].self, at: object, missing) }
    try document.check(depth, at: object)
    self.document = document
    packedObject = UInt32(truncatingIfNeeded: object)
    packedDepth = UInt16(truncatingIfNeeded: depth)
    keyClass = UInt8(truncatingIfNeeded: document.types.known(Key.self)?.rawValue ?? 0)
  }

  private var object: Int { Int(packedObject) }
  private var depth: Int { Int(packedDepth) }

  var codingPath: [any CodingKey] { document.codingPath(of: object) }

  var allKeys: [Key] {
    let names = document.names(of: object).map { document.key(document.tape[$0]) }
    let mayRepeat = document.coding.keys != .unchanged || document.tape[object].kind == .indexedObject
    guard mayRepeat else { return names.compactMap { Key(stringValue: $0) } }
    var seen: Set<String> = []
    return names.compactMap { seen.insert($0).inserted ? Key(stringValue: $0) : nil }
  }

  func contains(_ key: Key) -> Bool { position(key) != nil }

  @inline(__always) private func position(_ key: Key) -> Int? {
    let isInSource =
      keyClass == 0 ? document.types.isInSource(key) : UInt(keyClass) == TypeClass.keyInSource.rawValue
    return document.position(of: key.stringValue, in: object, isWrittenInSource: isInSource)
  }

  @inline(__always) private func value(_ key: Key) throws -> Int {
    guard let value = position(key) else { throw missing(key) }
    return value
  }

  private func missing(_ key: Key) -> DecodingError {
    .keyNotFound(key, document.context("A key is missing from the object", at: object))
  }

  /// Returns the position of a key's value; `nil` if the key is missing or its value is `null`.
  @inline(__always) private func present(_ key: Key) -> Int? {
    guard let value = position(key), !document.isNull(value) else { return nil }
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { document.isNull(try value(key)) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(at: value(key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(at: value(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(at: value(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(at: value(key)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(at: value(key)) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try document.integer(type, at: value(key)) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try document.integer(type, at: value(key)) }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try document.integer(type, at: value(key))
  }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try document.decode(type, at: value(key), depth + 1)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map { try document.bool(at: $0) }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map { try document.string(at: $0) }
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try document.double(at: $0) }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try document.float(at: $0) }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try document.integer(at: $0) }
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try present(key).map { try document.integer(type, at: $0) }
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try present(key).map { try document.integer(type, at: $0) }
  }
  func decodeIfPresent<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try document.integer(type, at: $0) }
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let position = present(key) else { return nil }
    return try document.decode(type, at: position, depth + 1)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    KeyedDecodingContainer(try KeyedContainer<NestedKey>(document, object: value(key), depth: depth + 1))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try UnkeyedContainer(document, array: value(key), depth: depth + 1)
  }

  func superDecoder() throws -> any Decoder { superDecoder(JSONKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

  /// Returns the decoder of a key's value. A missing value is decoded as `null`.
  private func superDecoder(_ key: some CodingKey) -> ValueDecoder {
    if let position = document.position(of: key.stringValue, in: object, isWrittenInSource: true) {
      return ValueDecoder(document: document, position: position, depth: depth + 1)
    }
    return ValueDecoder(
      document: document, position: JSONTape.null, depth: depth + 1, missing: MissingValue(codingPath + [key]))
  }
}

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

  private func ended(_ type: Any.Type) -> DecodingError {
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
