import Testing

@testable import ApusNIO

@Suite("Interleavings of exchanges")
struct ExchangeInterleavingTests {
  @Test(
    "Each caller is resumed once, with a correct request state, and only repeatable requests are sent twice",
    arguments: 0..<1000 as Range<UInt64>)
  func random(seed: UInt64) {
    let world = Self.world(seed)
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
  }

  @Test("The random steps reach every case that the test is meant to cover")
  func coverage() {
    let events = (0..<400 as Range<UInt64>).reduce(into: [:]) { events, seed in
      events.merge(Self.world(seed).events) { $0 + $1 }
    }
    for name in [
      "out again, written", "out again, not written", "read on after the connection's end",
      "closed before it was used again", "told notSent, written 0 times", "told maybeSent, written 1 times",
      "told maybeSent, written 2 times", "told responded, written 2 times", "responded early, success",
      "responded early, error", "completed after its response", "abandoned after its response",
      "failed after its response",
    ] {
      #expect(events[name, default: 0] > 5, "\(name): \(events)")
    }
  }

  private static func world(_ seed: UInt64) -> ExchangeWorld {
    var world = ExchangeWorld(seed: seed)
    for _ in 0..<400 { world.step() }
    world.finish()
    return world
  }
}
