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

  @inline(never) private func missing(_ key: Key) -> DecodingError {
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
