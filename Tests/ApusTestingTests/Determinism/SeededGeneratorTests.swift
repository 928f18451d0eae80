import ApusTesting
import Testing

@Suite("Seeded randomness")
struct SeededGeneratorTests {
  @Test("The same seed yields the same sequence, different seeds yield different sequences")
  func seeds() {
    func sequence(_ seed: UInt64) -> [UInt64] {
      var generator = SeededGenerator(seed: seed)
      return (0..<20).map { _ in generator.next() }
    }
    #expect(sequence(7) == sequence(7))
    #expect(sequence(7) != sequence(8))
    #expect(Set(sequence(0)).count == 20)
  }

  @Test("The generator's numbers match the reference implementation")
  func reference() {
    // The first numbers of SplitMix64 with seed 0, which are the initial state of xoshiro256**.
    let state: [UInt64] = [
      0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F, 0xF88B_B8A8_724C_81EC,
    ]
    let product = state[1] &* 5
    var generator = SeededGenerator(seed: 0)
    #expect(generator.next() == ((product << 7) | (product >> 57)) &* 9)
  }

  @Test("The generator's numbers are uniformly distributed")
  func spread() {
    var generator = SeededGenerator(seed: 3)
    var counts = [Int](repeating: 0, count: 10)
    for _ in 0..<10_000 { counts[Int.random(in: 0..<10, using: &generator)] += 1 }
    #expect(counts.allSatisfy { (800...1200).contains($0) })
  }

  @Test("A random source for a client yields the generator's numbers")
  func source() {
    let source = SeededGenerator.source(seed: 9)
    var generator = SeededGenerator(seed: 9)
    #expect((0..<5).map { _ in source() } == (0..<5).map { _ in generator.next() })
  }

  @Test("Serial numbers increase from the given start")
  func serials() {
    let next = SerialNumbers(from: 100).next
    #expect([next(), next(), next()] == [100, 101, 102])
  }
}
