/// The resources of a process after each round of a soak, and whether they grow with the rounds.
struct Growth {
  private let descriptorLimit: Int
  private let byteLimit: Int
  private var rounds: [Resources] = []

  /// - Parameter allowed: the bytes of permitted growth; `nil` if other tests run in parallel and use resources too.
  init(allowed: Int?) {
    descriptorLimit = allowed == nil ? 300 : 16
    // Other tests hold files of 20 MB and uploads of as much, some of them at the same time.
    byteLimit = allowed ?? 192 << 20
  }

  mutating func add(_ resources: Resources) {
    rounds.append(resources)
  }

  /// A description of what grew; `nil` if nothing did, or if there were too few rounds.
  ///
  /// The first third creates what is kept: thread pools, caches of the allocator, pages for many concurrent calls.
  /// The minima of the later thirds are compared, because a single round may end at a bad moment.
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
