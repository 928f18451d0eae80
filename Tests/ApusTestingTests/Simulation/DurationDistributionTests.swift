import Testing

@testable import ApusTesting

@Suite("Simulation: duration distributions")
struct DurationDistributionTests {
  private func samples(_ distribution: DurationDistribution, _ count: Int = 20_000) -> [Double] {
    var generator = SeededGenerator(seed: 1)
    return (0..<count).map { _ in distribution.sample(using: &generator) / Duration.seconds(1) }
  }

  private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

  @Test("Constant durations are constant, uniform durations are within bounds, and all distributions have their mean")
  func shapes() {
    #expect(samples(.constant(.seconds(2)), 3) == [2, 2, 2])
    let uniform = samples(.uniform(Duration.seconds(1)...Duration.seconds(3)))
    #expect(uniform.allSatisfy { (1...3).contains($0) })
    #expect(abs(mean(uniform) - 2) < 0.02)
    let exponential = samples(.exponential(mean: .seconds(2)))
    #expect(exponential.allSatisfy { $0 >= 0 })
    #expect(abs(mean(exponential) - 2) < 0.1)
    // The median of an exponential distribution is its mean times ln 2.
    #expect(abs(exponential.sorted()[10_000] - 1.386) < 0.1)
  }

  @Test(
    "Shifted durations have a minimum, mixed durations rarely come from the rare distribution, and no duration is negative"
  )
  func combinations() {
    let shifted = samples(.shifted(by: .seconds(1), .exponential(mean: .seconds(1))))
    #expect(shifted.allSatisfy { $0 >= 1 })
    #expect(abs(mean(shifted) - 2) < 0.05)
    let mixed = samples(.mixed(.constant(.seconds(1)), .constant(.seconds(9)), rare: 0.1))
    #expect(abs(Double(mixed.count { $0 == 9 }) / 20_000 - 0.1) < 0.02)
    #expect(samples(.constant(.seconds(-1)), 1) == [0])
    #expect(samples(.shifted(by: .seconds(-5), .constant(.seconds(1))), 1) == [0])
  }

  @Test("The same seed yields the same durations")
  func repeated() {
    let distribution = DurationDistribution.exponential(mean: .milliseconds(30))
    #expect(samples(distribution, 100) == samples(distribution, 100))
  }

  @Test(
    "The natural logarithm is correct to the last digits",
    arguments: [
      (1.0, 0.0), (2.0, 0.6931471805599453), (0.5, -0.6931471805599453), (10.0, 2.302585092994046),
      (1e-9, -20.72326583694641),
    ])
  func logarithm(number: Double, expected: Double) {
    #expect(abs(number.naturalLogarithm - expected) <= abs(expected) * 1e-12)
  }
}
