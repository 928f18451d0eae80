import Apus
import Testing

@Suite("Random calls through the whole pipeline in random order")
struct PipelineInterleavingTests {
  private static let steps = 250

  @Test(
    "With random disturbances calls end once, limits always hold, and no resource leaks",
    arguments: UInt64(0)..<24)
  func storm(seed: UInt64) async {
    var storm = PipelineStorm(seed: seed)
    for _ in 0..<Self.steps {
      storm.step()
      // Limits are checked at every arrival of a request.
      let excesses = storm.parts.meter.excesses
      #expect(excesses.isEmpty, "seed \(seed): \(excesses)")
      if !excesses.isEmpty { break }
    }
    await Task.yield()
    storm.finish()
    let place = "seed \(seed)"
    let outcomes = storm.calls.indices.map { storm.ledger.outcomes(of: $0) }
    #expect(outcomes.allSatisfy { $0.count == 1 }, "\(place)")
    storm.parts.expectQuiet(storm.apis, place)
    for api in storm.apis { storm.parts.expectUntroubled(api, place) }
    storm.parts.expectQuiet(storm.apis, "\(place), afterwards")
  }

  @Test("In random runs calls succeed, fail, are cancelled, wait, retry, join and are refused")
  func variety() {
    let expected: Set<String> = [
      "attempt failed", "joined", "awaits credentials", "redirected", "queued: held by the app", "queued: rate limit",
      "circuit is open, for ms", "waits for a network, calls that wait",
    ]
    var met: Set<String> = []
    var codes: Set<CallError.Code> = []
    var successes = 0
    // Runs at least six seeds, and more until every expected event has occurred, because not every run has a low rate.
    for seed in UInt64(100)..<124 where seed < 106 || !met.isSuperset(of: expected) {
      var storm = PipelineStorm(seed: seed)
      for _ in 0..<Self.steps { storm.step() }
      storm.finish()
      met.formUnion(storm.parts.endings.met)
      for outcome in storm.calls.indices.flatMap({ storm.ledger.outcomes(of: $0) }) {
        switch outcome {
        case .success: successes += 1
        case .failure(let error): codes.insert(error.code)
        }
      }
    }
    #expect(successes > 20)
    #expect(codes.isSuperset(of: [.cancelled, .rejected, .timeout, .refused]), "\(codes)")
    #expect(met.isSuperset(of: expected), "\(met.sorted())")
  }
}
