import ApusTesting
import ApusURLSession
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  /// Checks that fail for a gap that the transport names: they are reported as soon as they pass.
  private static let gaps = [
    "sends a stream of unknown length whole": "streamed request content",
    "sends a stream of known length whole": "streamed request content",
    "throws CancellationError while it sends content, and gives the exchange up": "streamed request content",
  ]

  @Test("URLSessionTransport conforms, but for the gaps it names", arguments: TransportConformance.checks)
  func conforms(check: TransportConformance.Check) async throws {
    let gap = URLSessionTransport.knownGaps.first { $0.name == Self.gaps[check.name] }
    try await withKnownIssue("\(gap?.description ?? "")") {
      try await LoopbackServer.with { server in
        // A check that cannot pass need not be waited for as long as one that must.
        try await check.run(URLSessionTransport(), server, limit: gap == nil ? .seconds(60) : .seconds(2))
      }
    } when: {
      gap != nil
    }
  }
}
