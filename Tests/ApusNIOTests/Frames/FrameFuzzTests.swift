import NIOCore
import TestSupport
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// Reads random and altered frames. A failure message contains the seed that reproduces the failure.
///
/// `APUS_FUZZ` sets the number of rounds.
@Suite("Fuzz: frames")
struct FrameFuzzTests {
  static let rounds = UInt64(fuzzRounds(usually: 20_000))
  /// The shards of the rounds, run in parallel.
  static let parts: UInt64 = 8

  private func payload(_ type: UInt8, _ random: inout SeededGenerator) -> [UInt8] {
    let usual =
      [
        0: 20, 1: 12, 2: 5, 3: 4, 4: 12, 5: 10, 6: 8, 7: 16, 8: 4, 9: 10,
      ][type] ?? 6
    let length = Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 0...40, using: &random) : usual
    if type == 1 || type == 9, Bool.random(using: &random) {
      return [0x88] + literal("a", "b", pattern: 0x40) + [0xBE]
    }
    return (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) & (Bool.random(using: &random) ? 0xFF : 7)
    }
  }

  private func frames(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      let type = UInt8.random(in: 0...11, using: &random)
      let isOfConnection = [4, 6, 7].contains(type) && Int.random(in: 0..<8, using: &random) > 0
      let stream: StreamID = isOfConnection ? 0 : [1, 1, 3, 0, 2].randomElement(using: &random) ?? 1
      var flags = FrameFlags(rawValue: UInt8.random(in: 0...255, using: &random) & 0x2D)
      if type == 1, Bool.random(using: &random) { flags = .endHeaders }
      bytes += frame(FrameType(rawValue: type), flags, stream: stream, payload(type, &random))
    }
    guard Bool.random(using: &random) else { return bytes }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    return bytes
  }

  @Test(
    "Random frames produce the same result regardless of how the input is split", arguments: 0..<parts)
  func noise(part: UInt64) {
    for seed in stride(from: part, to: Self.rounds, by: Int(Self.parts)) {
      var random = SeededGenerator(seed: seed)
      let bytes =
        seed % 4 == 0
        ? (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) & (seed % 8 == 0 ? 0xFF : 0x0F) }
        : frames(&random)
      let whole = ReadFrames(bytes)
      let cuts = (0..<5).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
      #expect(ReadFrames(bytes, cuts: cuts) == whole, "seed \(seed), cuts \(cuts)")
      if seed % 5 == 0 { #expect(ReadFrames(bytes, cuts: Array(0..<bytes.count)) == whole, "seed \(seed)") }
      #expect(!whole.events.contains("an event after a violation") && whole.events.count <= bytes.count)
    }
  }

  @Test("The buffer never holds more unread bytes than one frame, and ignored payloads are not buffered")
  func memory() throws {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      var reader = FrameReader()
      var buffer = ByteBuffer(bytes: ReadFrames.preface)
      for _ in 0..<50 {
        let type = FrameType(rawValue: UInt8.random(in: 0...20, using: &random))
        let length = [4, 8, 6000, 16_384].randomElement(using: &random) ?? 4
        var piece = ByteBuffer(bytes: frame(type, .endHeaders, stream: 1, [UInt8](repeating: 0x88, count: length)))
        buffer.take(&piece)
        do throws(FrameViolation) {
          while try reader.next(from: &buffer) != nil {}
        } catch { break }
        #expect(buffer.readableBytes < FrameHeader.size + FrameReader.maximumFrameSize)
      }
    }
  }
}
