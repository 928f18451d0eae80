/// An encoder of one value. The encoder fits in three words, so passing it as `any Encoder` allocates nothing.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
  private let output: JSONOutput
  private let node: Int

  init(_ output: JSONOutput, _ node: Int) { (self.output, self.node) = (output, node) }

  var codingPath: [any CodingKey] { output.codingPath(of: node) }
  var userInfo: [CodingUserInfoKey: Any] { output.coding.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    output.open(node, .object)
    return KeyedEncodingContainer(KeyedOutput<Key>(output, node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    output.open(node, .array)
    return UnkeyedOutput(output, node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { output.encodeNull(as: node) }
  func encode(_ value: Bool) throws { output.encode(value, as: node) }
  func encode(_ value: String) throws { output.encode(value, as: node) }
  func encode(_ value: Double) throws { try output.encode(value, as: node) }
  func encode(_ value: Float) throws { try output.encode(value, as: node) }
  func encode(_ value: Int128) throws { output.encode(anyInteger: value, as: node) }
  func encode(_ value: UInt128) throws { output.encode(anyInteger: value, as: node) }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws { output.encode(anyInteger: value, as: node) }
  func encode<T: Encodable>(_ value: T) throws { try output.encode(value, as: node) }
}

/// The members of an object.
struct KeyedOutput<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let output: JSONOutput
  private let node: Int

  init(_ output: JSONOutput, _ node: Int) { (self.output, self.node) = (output, node) }

  var codingPath: [any CodingKey] { output.codingPath(of: node) }

  @inline(__always) private func member(_ key: Key) -> Int { output.addMember(key.stringValue, to: node) }

  func encodeNil(forKey key: Key) throws { output.encodeNull(as: member(key)) }
  func encode(_ value: Bool, forKey key: Key) throws { output.encode(value, as: member(key)) }
  func encode(_ value: String, forKey key: Key) throws { output.encode(value, as: member(key)) }
  func encode(_ value: Double, forKey key: Key) throws { try output.encode(value, as: member(key)) }
  func encode(_ value: Float, forKey key: Key) throws { try output.encode(value, as: member(key)) }
  func encode(_ value: Int, forKey key: Key) throws { output.encode(integer: Int64(value), as: member(key)) }
  func encode(_ value: Int128, forKey key: Key) throws { output.encode(anyInteger: value, as: member(key)) }
  func encode(_ value: UInt128, forKey key: Key) throws { output.encode(anyInteger: value, as: member(key)) }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) throws {
    output.encode(anyInteger: value, as: member(key))
  }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try output.encode(value, as: member(key)) }

  /// Returns the node of the member with a key, which is added if necessary.
  private func reopened(_ key: some CodingKey) -> Int {
    output.member(output.written(key.stringValue), of: node) ?? output.addMember(key.stringValue, to: node)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    ValueEncoder(output, reopened(key)).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueEncoder(output, reopened(key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { ValueEncoder(output, output.addMember("super", to: node)) }
  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(output, member(key)) }
}

/// The elements of an array.
struct UnkeyedOutput: UnkeyedEncodingContainer {
  private let output: JSONOutput
  private let node: Int

  init(_ output: JSONOutput, _ node: Int) { (self.output, self.node) = (output, node) }

  var codingPath: [any CodingKey] { output.codingPath(of: node) }
  var count: Int { Int(output[node].length) }

  @inline(__always) private func element() -> Int { output.addElement(to: node) }

  func encodeNil() throws { output.encodeNull(as: element()) }
  func encode(_ value: Bool) throws { output.encode(value, as: element()) }
  func encode(_ value: String) throws { output.encode(value, as: element()) }
  func encode(_ value: Double) throws { try output.encode(value, as: element()) }
  func encode(_ value: Float) throws { try output.encode(value, as: element()) }
  func encode(_ value: Int128) throws { output.encode(anyInteger: value, as: element()) }
  func encode(_ value: UInt128) throws { output.encode(anyInteger: value, as: element()) }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws { output.encode(anyInteger: value, as: element()) }
  func encode<T: Encodable>(_ value: T) throws { try output.encode(value, as: element()) }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    ValueEncoder(output, element()).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { ValueEncoder(output, element()).unkeyedContainer() }
  func superEncoder() -> any Encoder { ValueEncoder(output, element()) }
}
