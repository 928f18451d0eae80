/// A detector of growth of a process's resources over the rounds of a soak test.
struct Growth {
  private let descriptorLimit: Int
  private let byteLimit: Int
  private var rounds: [Resources] = []

  /// - Parameter allowed: the bytes of permitted growth; `nil` if other tests run in parallel and use resources too.
  init(allowed: Int?) {
    descriptorLimit = allowed == nil ? 300 : 16
    // Other tests concurrently use files and uploads of 20 MB.
    byteLimit = allowed ?? 192 << 20
  }

  mutating func add(_ resources: Resources) {
    rounds.append(resources)
  }

  /// A description of the growth; `nil` if there was none, or if there were too few rounds.
  ///
  /// The first third of the rounds is ignored, because it creates permanent resources: thread pools, caches of the
  /// allocator, pages for many concurrent calls. The minima of the other thirds are compared, because a single round
  /// may end with temporary resources.
  var finding: String? {
    let third = rounds.count / 3
    guard third > 0 else { return nil }
    let (middle, last) = (rounds[third..<2 * third], rounds[(rounds.count - third)...])
    let descriptors = Self.growth(of: \.descriptors, from: middle, to: last)
    let bytes = Self.growth(of: \.allocatedBytes, from: middle, to: last)
    if descriptors > descriptorLimit { return "\(descriptors) more descriptors in \(rounds.map(\.descriptors))" }
    if bytes > byteLimit { return "\(bytes) more bytes in \(rounds.map(\.allocatedBytes))" }
    return nil
  }

  private static func growth(
    of figure: (Resources) -> Int, from: ArraySlice<Resources>, to: ArraySlice<Resources>
  ) -> Int {
    guard let before = from.map(figure).min(), let after = to.map(figure).min() else { return 0 }
    return after - before
  }
}
