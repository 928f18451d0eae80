/// A probability distribution of durations: latencies, service times, pauses between calls.
///
/// ```swift
/// let always = DurationDistribution.constant(.milliseconds(20))
/// let network = DurationDistribution.shifted(by: .milliseconds(15), .exponential(mean: .milliseconds(10)))
/// let withTail = DurationDistribution.mixed(network, .constant(.seconds(2)), rare: 0.01)   // 1 in 100
/// ```
///
/// The same generator yields the same durations on every machine: no function of the platform's math library is used,
/// because the last digits of such functions differ. Durations are never negative.
public indirect enum DurationDistribution: Sendable, Hashable {
  /// Always the same duration.
  case constant(Duration)
  /// Uniform between two bounds.
  case uniform(ClosedRange<Duration>)
  /// Exponential, like the time between independent events.
  case exponential(mean: Duration)
  /// Another distribution, plus a constant.
  case shifted(by: Duration, DurationDistribution)
  /// The second distribution with the probability `rare`, 0 to 1; the first distribution in all other cases.
  case mixed(DurationDistribution, DurationDistribution, rare: Double)

  /// Returns a random duration.
  public func sample(using generator: inout some RandomNumberGenerator) -> Duration {
    switch self {
    case .constant(let duration): return max(.zero, duration)
    case .uniform(let bounds):
      let width = bounds.upperBound - bounds.lowerBound
      return max(.zero, bounds.lowerBound + width * generator.nextFraction())
    case .exponential(let mean): return max(.zero, mean * -(1 - generator.nextFraction()).naturalLogarithm)
    case .shifted(let shift, let other): return max(.zero, shift + other.sample(using: &generator))
    case .mixed(let usual, let unusual, let rare):
      return generator.nextFraction() < rare
        ? unusual.sample(using: &generator) : usual.sample(using: &generator)
    }
  }
}

extension RandomNumberGenerator {
  /// Returns a random number of 53 bits in 0..<1.
  mutating func nextFraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}

extension Double {
  /// The natural logarithm of a positive number, from the series of the inverse hyperbolic tangent.
  var naturalLogarithm: Double {
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var term = ratio
    var sum = 0.0
    // The ratio is at most 1/3, so 20 terms exhaust the precision of a Double.
    for power in stride(from: 1.0, to: 40.0, by: 2.0) {
      sum += term / power
      term *= square
    }
    return Double(exponent) * 0.6931471805599453 + 2 * sum
  }
}
