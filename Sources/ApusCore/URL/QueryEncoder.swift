/// The writer that the containers of one encoder share.
final class QuerySink {
  var writer: QueryWriter

  init(writer: QueryWriter) {
    self.writer = writer
  }
}

/// An encoder that writes any `Encodable` value as query parameters.
struct QueryEncoder: Encoder {
  let sink: QuerySink
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(sink: sink, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    Unkeyed(sink: sink, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    Single(sink: sink, codingPath: codingPath)
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let sink: QuerySink
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { try sink.writer.writeNil(at: codingPath + [key]) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
      try sink.writer.write(value, at: codingPath + [key])
    }

    private func write(_ value: (some Encodable)?, _ key: Key) throws {
      try sink.writer.write(value, at: codingPath + [key])
    }

    // Synthesized conformances encode optional properties with these methods. Their default implementations omit `nil`,
    // whereas here the style determines how `nil` is written. The protocol has one requirement for each type.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      QueryEncoder(sink: sink, codingPath: codingPath + [key]).container(keyedBy: Nested.self)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      Unkeyed(sink: sink, codingPath: codingPath + [key])
    }

    mutating func superEncoder() -> any Encoder { QueryEncoder(sink: sink, codingPath: codingPath) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
      QueryEncoder(sink: sink, codingPath: codingPath + [key])
    }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let sink: QuerySink
    let codingPath: [any CodingKey]
    private(set) var count = 0

    init(sink: QuerySink, codingPath: [any CodingKey]) {
      self.sink = sink
      self.codingPath = codingPath
      sink.writer.beginList()
    }

    private mutating func nextPath() -> [any CodingKey] {
      defer { count += 1 }
      return codingPath + [QueryKey(index: count)]
    }

    mutating func encodeNil() throws { try sink.writer.writeNil(at: nextPath()) }

    mutating func encode(_ value: some Encodable) throws { try sink.writer.write(value, at: nextPath()) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
      QueryEncoder(sink: sink, codingPath: nextPath()).container(keyedBy: Nested.self)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      Unkeyed(sink: sink, codingPath: nextPath())
    }

    mutating func superEncoder() -> any Encoder { QueryEncoder(sink: sink, codingPath: nextPath()) }
  }

  private struct Single: SingleValueEncodingContainer {
    let sink: QuerySink
    let codingPath: [any CodingKey]

    mutating func encodeNil() throws { try sink.writer.writeNil(at: codingPath) }

    mutating func encode(_ value: some Encodable) throws { try sink.writer.write(value, at: codingPath) }
  }
}
