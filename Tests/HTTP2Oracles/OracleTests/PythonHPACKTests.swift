import ApusTesting
import NIOCore
import Testing

@testable import ApusNIO

@Suite(
  "Field blocks: comparison with Python's hpack",
  .enabled("hpack is not installed") { PythonHPACK.isThere || PythonHPACK.isRequired })
struct PythonHPACKTests {
  static let parts = Rounds.parts

  @Test("Python's hpack decodes every request that the encoder writes", arguments: 0..<parts)
  func requests(part: UInt64) async throws {
    var python = PythonHPACK()
    var expected: [(seed: UInt64, lines: [FieldLine])] = []
    for seed in Rounds.seeds(part) {
      var requests = RandomRequests(seed: seed, .any)
      var encoder = FieldEncoder()
      python.beginConnection(tableSize: 4096)
      for _ in 0..<Rounds.connectionBlocks {
        if requests.random.isOne(in: 3) {
          // The encoder limits its table to 4096 bytes, and hpack refuses a table that stays larger than allowed.
          let size = requests.random.pick([0, 64, 4096, requests.random.number(0...6000)])
          encoder.limitTable(to: UInt32(size))
          python.setTableSize(size)
        }
        let request = requests.next()
        var block = ByteBuffer()
        try encoder.encode(request.head, adding: request.adding, framing: request.framing, into: &block)
        python.decode(Array(block.readableBytesView))
        expected.append((seed, request.lines))
      }
    }
    var results = try await python.results()
    for (seed, lines) in expected {
      guard case .fields(lines) = try results.decoded() else {
        Issue.record("seed \(seed): not \(lines)")
        return
      }
    }
    #expect(results.isAtEnd)
  }

  @Test("The decoder reads every response that Python's hpack writes", arguments: 0..<parts)
  func responses(part: UInt64) async throws {
    var python = PythonHPACK()
    var expected: [(seed: UInt64, tableSize: Int, responses: [[FieldLine]])] = []
    for seed in Rounds.seeds(part) {
      var source = RandomResponses(seed: seed, .any)
      let tableSize = source.random.pick([0, 64, 4096])
      python.beginConnection(tableSize: tableSize)
      let responses = (0..<Rounds.connectionBlocks).map { _ in
        while source.random.isOne(in: 4) { python.setTableSize(source.random.number(0...tableSize)) }
        let lines = source.next()
        python.encode(lines, isHuffmanCoded: source.random.isOne(in: 2))
        return lines
      }
      expected.append((seed, tableSize, responses))
    }
    var results = try await python.results()
    for (seed, tableSize, responses) in expected {
      var decoder = FieldDecoder(maximumTableSize: tableSize)
      for lines in responses {
        let block = try results.block()
        let fields = Result { () throws(CompressionFault) in try decoder.fields(block).map(\.line) }
        guard fields == .success(lines.map(\.plain)) else {
          Issue.record("seed \(seed), block \(hexadecimal(block)): \(fields) instead of \(lines)")
          return
        }
      }
    }
    #expect(results.isAtEnd)
  }

  @Test("The decoder and Python's hpack accept and refuse the same altered blocks", arguments: 0..<parts)
  func altered(part: UInt64) async throws {
    var python = PythonHPACK()
    var inputs: [(seed: UInt64, tableSize: Int, blocks: [[UInt8]])] = []
    for seed in Rounds.seeds(part, count: Rounds.blocks / 2) {
      var source = RandomBlocks(seed: seed, .any)
      let tableSize = [4096, 4096, 64, 0][Int(seed % 4)]
      let blocks = try (0..<Rounds.alteredBlocks).map { _ in try source.next() }
      python.beginConnection(tableSize: tableSize)
      for block in blocks { python.decode(block) }
      inputs.append((seed, tableSize, blocks))
    }
    var results = try await python.results()
    var comparison = BlockComparison()
    for (seed, tableSize, blocks) in inputs {
      var decoder = FieldDecoder(maximumTableSize: tableSize)
      // After a refused block, the states of both decoders are undefined.
      var isComparable = true
      for block in blocks {
        let theirs = try results.decoded()
        guard isComparable else { continue }
        let ours = Result { () throws(CompressionFault) in try decoder.fields(block) }
        isComparable = comparison.compare(ours, with: theirs, block, seed: seed)
      }
    }
    comparison.expectBoth()
    #expect(comparison.explained == [])
    #expect(results.isAtEnd)
  }
}
