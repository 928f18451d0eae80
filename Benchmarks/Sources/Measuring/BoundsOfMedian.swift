/// The middle ones of independent figures, in order, so far to both sides of the median that the true one is between
/// the first and the last of them 19 times of 20, whatever the figures' distribution.
///
/// One that is far off, since the machine was busy with something else, moves these bounds no more than any other. They
/// are found by the sign test: as many of `n` figures lie below the true median as of `n` tossed coins show heads. Of
/// fewer than 6 figures all are given, which are too few for that much certainty.
public func boundsOfMedian(_ figures: [Double]) -> [Double] {
  let sorted = figures.sorted()
  let count = Double(sorted.count)
  let outside = max(0, Int((count - 1.96 * count.squareRoot()) / 2) - 1)
  return Array(sorted[outside..<(sorted.count - outside)])
}
