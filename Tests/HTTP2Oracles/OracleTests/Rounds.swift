import ApusTesting
import Foundation

/// The amount of work of each test.
enum Rounds {
  /// The number of field blocks that a test compares: `APUS_BLOCKS`. Default: 20,000.
  static let blocks = ProcessInfo.processInfo.environment["APUS_BLOCKS"].flatMap { Int($0) } ?? 20_000
  /// The number of field blocks of a connection.
  static let connectionBlocks = 20
  /// The number of altered field blocks of a connection. The first refused block, half of them, ends the connection.
  static let alteredBlocks = 4
  /// The number of sequences of frames that a test compares.
  static let sequences = blocks / 10
  /// The number of frames of a sequence, in which a field block of several frames counts once.
  static let sequenceFrames = 12
  /// The shards of the connections, run in parallel. A shard keeps all its blocks in memory.
  static let parts = UInt64(max(8, blocks / 5000))

  /// Returns the seeds of a shard: one seed for each connection.
  static func seeds(_ part: UInt64, count: Int = blocks / connectionBlocks) -> StrideTo<UInt64> {
    stride(from: part, to: UInt64(count), by: Int(parts))
  }
}

extension SeededGenerator {
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// Returns `true` once in `count` times.
  mutating func isOne(in count: Int) -> Bool { number(1...count) == 1 }

  /// Returns an element of a list that is not empty.
  mutating func pick<Element>(_ list: [Element]) -> Element { list[number(0...list.count - 1)] }

  mutating func bytes(_ count: Int, in range: ClosedRange<UInt8> = 0...255) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: range, using: &self) }
  }

  /// Returns positions at which a sequence of bytes is cut.
  mutating func cuts(_ count: Int) -> [Int] {
    (0..<number(0...4)).map { _ in number(0...count) }.sorted()
  }
}
