import HTTPTypes

/// A receiver of the decoded fields of a field block.
protocol FieldReceiver {
  mutating func take(_ field: HTTPField, _ facts: FieldFacts)
}

/// A decoder of field blocks (RFC 7541) that owns the dynamic table of one connection.
///
/// Decodes every field block to its end, even if a field is malformed: the dynamic table must stay in sync with the
/// server's.
struct FieldDecoder: Sendable {
  /// The maximum size of the dynamic table, announced in SETTINGS_HEADER_TABLE_SIZE.
  private let maximumTableSize: Int
  private var table: FieldTable<TableField>

  init(maximumTableSize: Int = 4096) {
    self.maximumTableSize = maximumTableSize
    table = FieldTable(maximumSize: maximumTableSize)
  }

  /// The size of the dynamic table (RFC 7541 §4.1).
  var tableSize: Int { table.size }
  /// The number of entries in the dynamic table.
  var tableCount: Int { table.count }

  /// Decodes a field block. After an error the decoder cannot be used again.
  mutating func decode(
    _ block: UnsafeRawBufferPointer, into receiver: inout some FieldReceiver
  ) throws(CompressionFault) {
    let limit = Huffman.decodedLimit(block.count)
    // One allocation for all Huffman-coded strings of the field block. Small allocations are on the stack.
    let fault: CompressionFault? = withUnsafeTemporaryAllocation(byteCount: limit, alignment: 8) { scratch in
      var cursor = BlockCursor(block, scratch: scratch)
      do throws(CompressionFault) {
        try decode(&cursor, into: &receiver)
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw fault }
  }

  private mutating func decode(
    _ cursor: inout BlockCursor, into receiver: inout some FieldReceiver
  ) throws(CompressionFault) {
    var hasField = false
    while let first = cursor.peek {
      if first & 0x80 != 0 {
        let entry = try field(at: cursor.integer(prefix: 7))
        receiver.take(entry.field, entry.facts)
      } else if first & 0x40 != 0 {
        let literal = try literal(prefix: 6, &cursor)
        table.insert(TableField(literal))
        receiver.take(literal.field, literal.facts)
      } else if first & 0x20 != 0 {
        guard !hasField else { throw .lateTableSize }
        let size = try cursor.integer(prefix: 5)
        guard size <= maximumTableSize else { throw .tableSizeTooLarge(size) }
        table.resize(to: size)
        continue
      } else {
        let literal = try literal(prefix: 4, &cursor)
        receiver.take(literal.field, literal.facts)
      }
      hasField = true
    }
  }

  @inline(__always)
  private func field(at index: Int) throws(CompressionFault) -> TableField {
    if index > 0, index <= StaticFields.count { return StaticFields.fields[index &- 1] }
    guard let field = table[index &- StaticFields.count &- 1] else { throw .unknownIndex(index) }
    return field
  }

  @inline(__always)
  private func literal(prefix: UInt8, _ cursor: inout BlockCursor) throws(CompressionFault) -> CodedField {
    let index = try cursor.integer(prefix: prefix)
    let name = index > 0 ? CodedName(try field(at: index)) : CodedName(try cursor.string())
    return CodedField(name, value: try cursor.string())
  }
}

/// A reader of the integers and strings of a field block.
struct BlockCursor {
  private let bytes: UnsafeRawBufferPointer
  /// Memory for one Huffman-decoded string.
  private let scratch: UnsafeMutableRawBufferPointer
  private let huffman = Huffman.shared
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer, scratch: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
    self.scratch = scratch
  }

  /// The next byte, or `nil` at the end of the field block.
  @inline(__always)
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads an integer with a prefix of `prefix` bits (RFC 7541 §5.1).
  @inline(__always)
  mutating func integer(prefix: UInt8) throws(CompressionFault) -> Int {
    guard let first = peek else { throw .truncated }
    position &+= 1
    let mask: UInt8 = 0xFF &>> (8 &- prefix)
    let value = first & mask
    return value < mask ? Int(value) : try longInteger(UInt64(mask))
  }

  private mutating func longInteger(_ start: UInt64) throws(CompressionFault) -> Int {
    var (value, shift) = (start, UInt64(0))
    while let byte = peek {
      position += 1
      // Four continuation bytes hold 28 bits. A fifth byte holds the remaining three bits of 2³¹ − 1.
      guard shift <= 28 else { throw .integerTooLarge }
      value += UInt64(byte & 0x7F) << shift
      guard value <= UInt64(Int32.max) else { throw .integerTooLarge }
      if byte & 0x80 == 0 { return Int(value) }
      shift += 7
    }
    throw .truncated
  }

  /// Reads a string (RFC 7541 §5.2). The result is valid until the next string is read.
  @inline(__always)
  mutating func string() throws(CompressionFault) -> UnsafeRawBufferPointer {
    guard let first = peek else { throw .truncated }
    let count = try integer(prefix: 7)
    guard count <= bytes.count - position else { throw .truncated }
    let coded = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    position += count
    guard first & 0x80 != 0 else { return coded }
    let decoded = try huffman.decode(coded, into: scratch)
    return UnsafeRawBufferPointer(rebasing: scratch[..<decoded])
  }
}
