#if NIO
  import Testing

  @testable import ApusNIO

  @Suite("Exchanges in any order of events")
  struct ExchangeInterleavingTests {
    @Test(
      "everyone is told once, nothing written counts as unsent, a request goes out twice only where it may",
      arguments: 0..<1000 as Range<UInt64>)
    func random(seed: UInt64) {
      var world = ExchangeWorld(seed: seed)
      for _ in 0..<400 { world.step() }
      world.finish()
      #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
    }

    @Test("the steps come by what they are to prove: exchanges that go out again")
    func coverage() {
      var resent = 0
      for seed in 0..<50 as Range<UInt64> {
        var world = ExchangeWorld(seed: seed)
        for _ in 0..<400 { world.step() }
        resent += world.resent
      }
      #expect(resent > 50)
    }
  }
#endif
