import Testing

@Suite("Shared exchanges in any order of events")
struct FlightInterleavingTests {
  @Test(
    "Each call joins, leads or is not shared as predicted by a model, and is resumed exactly once",
    arguments: 0..<150 as Range<UInt64>)
  func random(seed: UInt64) {
    var world = FlightWorld(seed: seed)
    for _ in 0..<200 { world.step() }
    world.finish()
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
  }
}
