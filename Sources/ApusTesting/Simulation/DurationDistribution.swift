/// How long something takes, from one time to the next: latencies, service times, pauses between calls.
///
/// ```swift
/// let always = DurationDistribution.constant(.milliseconds(20))
/// let network = DurationDistribution.shifted(by: .milliseconds(15), .exponential(mean: .milliseconds(10)))
/// let withTail = DurationDistribution.mixed(network, .constant(.seconds(2)), rare: 0.01)   // one in a hundred
/// ```
///
/// The same generator gives the same times on every machine: no function of the platform's mathematical library, whose
/// last digits differ, takes part. Times are never negative.
public indirect enum DurationDistribution: Sendable, Hashable {
  /// The same each time.
  case constant(Duration)
  /// Anything between the two bounds, each as likely.
  case uniform(ClosedRange<Duration>)
  /// Mostly short and sometimes long, as the pauses between events that know nothing of each other.
  case exponential(mean: Duration)
  /// Another distribution's time, and so much more.
  case shifted(by: Duration, DurationDistribution)
  /// Mostly the first; the second with a probability of `rare`, 0 to 1.
  case mixed(DurationDistribution, DurationDistribution, rare: Double)

  /// The next time.
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
  /// A number from 0 up to, and never, 1: of 53 bits.
  mutating func nextFraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}

extension Double {
  /// The natural logarithm of a positive number, by the series of the inverse hyperbolic tangent.
  var naturalLogarithm: Double {
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var term = ratio
    var sum = 0.0
    // The ratio is at most a third: after 20 terms nothing is left that a Double could hold.
    for power in stride(from: 1.0, to: 40.0, by: 2.0) {
      sum += term / power
      term *= square
    }
    return Double(exponent) * 0.6931471805599453 + 2 * sum
  }
}
