import ApusTesting
import Foundation
import NIOCore
import NIOHPACK
import Testing

@testable import ApusNIO

@Suite("Field blocks: comparison with swift-nio-http2")
struct NIOHPACKTests {
  static let parts = Rounds.parts
  /// The differences that docs/conformance.md explains.
  static let explained: Set = ["long-integer", "nio-empty-name", "nio-utf8", "table-sizes"]
  private static let listSize = 1 << 28

  @Test("NIOHPACK decodes every request that the encoder writes", arguments: 0..<parts)
  func requests(part: UInt64) throws {
    for seed in Rounds.seeds(part) {
      var requests = RandomRequests(seed: seed, .utf8)
      var encoder = FieldEncoder()
      var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096, maxHeaderListSize: Self.listSize)
      for _ in 0..<Rounds.connectionBlocks {
        while requests.random.isOne(in: 4) {
          let size = requests.random.pick([0, 64, 4096, requests.random.number(0...6000)])
          encoder.limitTable(to: UInt32(size))
          decoder.maxDynamicTableLength = size
        }
        let request = requests.next()
        var block = ByteBuffer()
        try encoder.encode(request.head, adding: request.adding, framing: request.framing, into: &block)
        let lines = try decoder.decodeHeaders(from: &block).map { FieldLine($0) }
        guard lines == request.lines else {
          Issue.record("seed \(seed): \(lines) instead of \(request.lines)")
          return
        }
      }
    }
  }

  @Test("The decoder reads every response that NIOHPACK writes", arguments: 0..<parts)
  func responses(part: UInt64) throws {
    for seed in Rounds.seeds(part) {
      var responses = RandomResponses(seed: seed, .utf8)
      let tableSize = responses.random.pick([0, 64, 4096])
      var decoder = FieldDecoder(maximumTableSize: tableSize)
      var encoder = HPACKEncoder(
        allocator: ByteBufferAllocator(), useHuffmanEncoding: responses.random.isOne(in: 2),
        maxDynamicTableSize: tableSize)
      for _ in 0..<Rounds.connectionBlocks {
        while responses.random.isOne(in: 4) {
          try encoder.setDynamicTableSize(responses.random.number(0...tableSize))
        }
        let lines = responses.next()
        let block = try encoder.block(lines, &responses.random)
        let fields = Result { () throws(CompressionFault) in try decoder.fields(block).map(\.line) }
        guard fields == .success(lines.map(\.plain)) else {
          Issue.record("seed \(seed), block \(hexadecimal(block)): \(fields) instead of \(lines)")
          return
        }
        #expect(decoder.tableSize == encoder.dynamicTableSize, "seed \(seed)")
      }
    }
  }

  @Test("The decoder and NIOHPACK accept and refuse the same altered blocks", arguments: 0..<parts)
  func altered(part: UInt64) throws {
    var comparison = BlockComparison()
    for seed in Rounds.seeds(part, count: Rounds.blocks / 2) {
      var blocks = RandomBlocks(seed: seed, .utf8)
      let tableSize = [4096, 4096, 64, 0][Int(seed % 4)]
      var decoder = FieldDecoder(maximumTableSize: tableSize)
      var oracle = HPACKDecoder(
        allocator: ByteBufferAllocator(), maxDynamicTableSize: tableSize, maxHeaderListSize: Self.listSize)
      for _ in 0..<Rounds.alteredBlocks {
        let block = try blocks.next()
        let ours = Result { () throws(CompressionFault) in try decoder.fields(block) }
        guard comparison.compare(ours, with: oracle.reading(of: block), block, seed: seed) else { break }
      }
    }
    comparison.expectBoth()
    #expect(comparison.explained.isSubset(of: Self.explained))
  }

  @Test("The documentation explains every named difference")
  func documented() throws {
    let text = try String(contentsOf: PythonHPACK.root.appending(path: "docs/conformance.md"), encoding: .utf8)
    for name in Self.explained { #expect(text.contains("`\(name)`"), "\(name)") }
  }
}

extension FieldLine {
  init(_ field: HPACKHeaders.Element) {
    self.init(field.name.utf8, field.value.utf8, isSensitive: field.indexable == .neverIndexed)
  }
}

extension HPACKDecoder {
  mutating func reading(of block: [UInt8]) -> OracleReading {
    var buffer = ByteBuffer(bytes: block)
    do {
      return .fields(try decodeHeaders(from: &buffer).map { FieldLine($0) })
    } catch {
      return .refused("\(type(of: error))")
    }
  }
}

extension HPACKEncoder {
  /// Returns the block of a response. Fields that are not sensitive are indexed or not.
  mutating func block(_ lines: [FieldLine], _ random: inout SeededGenerator) throws -> [UInt8] {
    var headers = HPACKHeaders()
    for line in lines {
      let usual: HPACKIndexing = random.isOne(in: 3) ? .nonIndexable : .indexable
      headers.add(
        name: String(decoding: line.name, as: UTF8.self), value: String(decoding: line.value, as: UTF8.self),
        indexing: line.isSensitive ? .neverIndexed : usual)
    }
    var buffer = ByteBuffer()
    try encode(headers: headers, to: &buffer)
    return Array(buffer.readableBytesView)
  }
}
