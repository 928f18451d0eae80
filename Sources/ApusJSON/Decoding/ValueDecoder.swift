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
