#if os(Linux)
import Foundation
import Testing

@testable import ApusNIO

/// Compares the decoder with a strict reading of RFC 9112 in Python, and with Python's own http.client.
///
/// `APUS_STREAMS` sets the number of streams. Default: 8,000. Each known difference from the strict reading has a name
/// here, and docs/conformance.md explains the difference. Any other difference fails the test. The failure has the
/// seed and the bytes of the stream.
@Suite(
  "Fuzz: comparison with other parsers", .enabled("python3 is not installed") { Judge.isThere || Judge.isRequired })
struct DifferentialFuzzTests {
  static let streams = ProcessInfo.processInfo.environment["APUS_STREAMS"].flatMap { UInt64($0) } ?? 8000
  /// The shards of the streams, run in parallel.
  static let parts: UInt64 = 8
  /// The first seed; another value produces other streams. A failure has the seed that reproduces its stream.
  static let first = ProcessInfo.processInfo.environment["APUS_SEED"].flatMap { UInt64($0) } ?? 0

  static func seeds(_ part: UInt64) -> StrideTo<UInt64> {
    stride(from: first + part, to: first + streams, by: Int(parts))
  }

  /// The differences that docs/conformance.md explains.
  static let explained: Set<String> = [
    // Refused, although RFC 9112 permits a recipient to accept it.
    "bare-lf", "folded-field", "other-coding", "coding-list", "both-framings", "unused-length", "unused-coding",
    "trailer-framing", "huge-length", "huge-chunk", "status-below-100", "limits",
    // Accepted, as RFC 9112 permits recipients, although no sender may write it.
    "no-reason-space", "repeated-length",
    // Accepted by all, with a different result.
    "doubtful-204", "python-interim", "python-tunnel", "python-length-list", "python-coding-space",
    "python-unused-coding",
    "python-limits",
  ]

  @Test(
    "The decoder accepts nothing that RFC 9112 forbids, and agrees with the other parsers", arguments: 0..<Self.parts)
  func judged(part: UInt64) async throws {
    let seeds = Self.seeds(part)
    let findings = try await Judge.findings(on: seeds)
    #expect(findings.unexplained == [])
    #expect(Set(findings.explained.keys).subtracting(Self.explained) == [])
    #expect(findings.count == Array(seeds).count)
    // The comparison is meaningful only if streams are neither all accepted nor all refused.
    #expect(findings.count < 100 || findings.accepted > findings.count / 5)
    #expect(findings.count < 100 || findings.accepted < findings.count * 4 / 5)
  }

  @Test(
    "A stream has the same result in one piece, in many and byte by byte, in no more steps than it has bytes",
    arguments: 0..<Self.parts)
  func cut(part: UInt64) {
    for seed in Self.seeds(part) {
      let stream = ResponseStream(seed: seed)
      let whole = Decoded(stream).comparable
      #expect(!whole.isEndless, "seed \(seed)")
      #expect(Decoded(stream, cuts: stream.cuts).comparable == whole, "seed \(seed)")
      // One stream in four, because decoding byte by byte takes as long as all other checks together.
      guard seed / Self.parts % 4 == 0 else { continue }
      #expect(Decoded(stream, cuts: Array(0..<stream.bytes.count)).comparable == whole, "seed \(seed)")
    }
  }

  @Test("The documentation explains every named difference")
  func documented() throws {
    let page = Judge.script.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "docs/conformance.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for name in Self.explained { #expect(text.contains("`\(name)`"), "\(name)") }
  }
}
#endif
