import HTTPTypes
import Testing

@testable import ApusNIO

@Suite("Field decoder")
struct FieldDecoderTests {
  private func fault(_ block: [UInt8], _ decoder: FieldDecoder = FieldDecoder()) -> CompressionFault? {
    var decoder = decoder
    do {
      _ = try decoder.lines(block)
      return nil
    } catch { return error as? CompressionFault }
  }

  @Test("An index of 0 or beyond the static and dynamic tables is a compression error")
  func unknownIndices() {
    #expect(fault([0x80]) == .unknownIndex(0))
    #expect(fault([0xBE]) == .unknownIndex(62))
    #expect(fault([0x7E, 0x00]) == .unknownIndex(62))
    #expect(fault([0x0F, 0x2F, 0x00]) == .unknownIndex(62))
    #expect(fault([0xFF, 0x80, 0x80, 0x80, 0x80, 0x07]) == .unknownIndex(127 + 7 << 28))
    #expect(fault(literal("a", "b", pattern: 0x40) + [0xBE]) == nil)
    #expect(fault(literal("a", "b", pattern: 0x40) + [0xBF]) == .unknownIndex(63))
    #expect(fault(literal("a", "b", pattern: 0x10) + [0xBE]) == .unknownIndex(62))
  }

  @Test("An integer above 2^31 - 1 or with more than five continuation bytes is a compression error")
  func integers() {
    // The largest accepted integer: 127 + 2147483520.
    #expect(fault([0xFF, 0x80, 0xFF, 0xFF, 0xFF, 0x07]) == .unknownIndex(Int(Int32.max)))
    #expect(fault([0xFF, 0x81, 0xFF, 0xFF, 0xFF, 0x07]) == .integerTooLarge)
    #expect(fault([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]) == .integerTooLarge)
    #expect(fault([0xFF, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]) == .integerTooLarge)
    #expect(fault([0xFF] + [UInt8](repeating: 0xFF, count: 40)) == .integerTooLarge)
    #expect(fault([0xFF] + [UInt8](repeating: 0x80, count: 40) + [0x00]) == .integerTooLarge)
    #expect(fault([0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x61]) == .integerTooLarge)
    #expect(fault([0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) == .integerTooLarge)
  }

  @Test("A field block that ends inside a field is a compression error")
  func truncated() throws {
    let block =
      literal("name", "value") + [0x48, 0x82, 0x64, 0x02] + literal("other", "value", pattern: 0x40)
      + [0xFF, 0x80, 0x01]
    var ends: Set<Int> = [0]
    for end in 0..<block.count where fault(Array(block[..<end])) == nil { ends.insert(end) }
    #expect(ends == [0, 12, 16, 29])
    for end in 0..<block.count where !ends.contains(end) { #expect(fault(Array(block[..<end])) == .truncated) }
    #expect(fault([0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0x07, 0x61]) == .truncated)
  }

  @Test("A table size update before the first field resizes the dynamic table")
  func tableSizes() throws {
    var decoder = FieldDecoder()
    _ = try decoder.lines(literal("a", "b", pattern: 0x40) + literal("c", "d", pattern: 0x40))
    #expect(decoder.tableCount == 2)
    #expect(try decoder.lines([0x3F, 0x03, 0xBE]) == ["c: d"])
    #expect(decoder.tableCount == 1 && decoder.tableSize == 34)
    #expect(try decoder.lines([0x20, 0x3F, 0xE1, 0x1F]) == [])
    #expect(decoder.tableCount == 0)
    #expect(try decoder.lines(literal("a", "b", pattern: 0x40) + [0xBE]) == ["a: b", "a: b"])
  }

  @Test("A table size update after a field is a compression error")
  func lateTableSize() {
    #expect(fault([0x88, 0x20]) == .lateTableSize)
    #expect(fault(literal("a", "b") + [0x3F, 0xE1, 0x1F]) == .lateTableSize)
    #expect(fault(literal("A", "b", pattern: 0x10) + [0x20]) == .lateTableSize)
  }

  @Test("A table size update above SETTINGS_HEADER_TABLE_SIZE is a compression error")
  func largeTableSize() {
    #expect(fault([0x3F, 0xE1, 0x1F]) == nil)
    #expect(fault([0x3F, 0xE2, 0x1F]) == .tableSizeTooLarge(4097))
    #expect(fault([0x20, 0x3F, 0xE2, 0x1F]) == .tableSizeTooLarge(4097))
    #expect(fault([0x21], FieldDecoder(maximumTableSize: 0)) == .tableSizeTooLarge(1))
    #expect(fault([0x20], FieldDecoder(maximumTableSize: 0)) == nil)
  }

  @Test("A field larger than the dynamic table empties the table")
  func largeField() throws {
    var decoder = FieldDecoder()
    _ = try decoder.lines(literal("a", "b", pattern: 0x40))
    let large = String(repeating: "x", count: 4096 - 32)
    #expect(try decoder.lines(literal("a", large, pattern: 0x40)) == ["a: \(large)"])
    #expect(decoder.tableCount == 0)
    _ = try decoder.lines(literal("a", String(large.dropLast()), pattern: 0x40))
    #expect(decoder.tableCount == 1 && decoder.tableSize == 4096)
  }

  @Test("A new entry can refer to the name of the entry that its insertion evicts")
  func evictedName() throws {
    var decoder = FieldDecoder(maximumTableSize: 40)
    _ = try decoder.lines(literal("name", "v", pattern: 0x40))
    #expect(try decoder.lines([0x7E] + string("w") + [0xBE]) == ["name: w", "name: w"])
    #expect(decoder.tableCount == 1)
  }

  @Test("The dynamic table evicts the oldest entry first over many insertions")
  func ring() throws {
    var decoder = FieldDecoder(maximumTableSize: 34 * 20)
    for round in 0..<500 {
      let name = String(UnicodeScalar(UInt8(97 + round % 26)))
      _ = try decoder.lines(literal(name, "\(round % 10)", pattern: 0x40))
      #expect(decoder.tableCount == min(round + 1, 20))
      let oldest = max(0, round - 19)
      let index = UInt8(0x80 + 61 + min(round + 1, 20))
      #expect(
        try decoder.lines([0xBE, index]) == [
          "\(name): \(round % 10)", "\(String(UnicodeScalar(UInt8(97 + oldest % 26)))): \(oldest % 10)",
        ])
    }
  }

  @Test("Field values that are not UTF-8 are preserved, including values from the dynamic table")
  func bytesOfValues() throws {
    var decoder = FieldDecoder()
    let field = [0x40] + string("a") + string([0x62, 0xE9, 0xFF])
    for block in [[0x88] + field, [0x88, 0xBE]] {
      let fields = try decoder.block(block).head().headerFields
      #expect(fields.count == 1)
      #expect(fields.first.map { $0.withUnsafeBytesOfValue { Array($0) } } == [0x62, 0xE9, 0xFF])
    }
  }

  @Test("Compression errors have distinct descriptions that contain the invalid index or table size")
  func descriptions() {
    #expect("\(CompressionFault.unknownIndex(99))".contains("99"))
    #expect("\(CompressionFault.tableSizeTooLarge(5000))".contains("5000"))
    let others: [CompressionFault] = [
      .truncated, .integerTooLarge, .lateTableSize, .endOfStringSymbol, .longPadding, .wrongPadding,
    ]
    #expect(Set(others.map { "\($0)" }).count == others.count)
  }
}
