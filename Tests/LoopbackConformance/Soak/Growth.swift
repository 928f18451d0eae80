#if NIO
  /// What a process holds after each round of a soak, and whether that grows with the rounds.
  struct Growth {
    private let descriptorLimit: Int
    private let byteLimit: Int
    private var rounds: [Resources] = []

    /// - Parameter allowed: how many bytes more there may be; `nil`: other tests run beside, and take what they need.
    init(allowed: Int?) {
      descriptorLimit = allowed == nil ? 300 : 16
      byteLimit = allowed ?? 96 << 20
    }

    mutating func add(_ resources: Resources) {
      rounds.append(resources)
    }

    /// What grew; `nil`: nothing did, or there were too few rounds to tell.
    ///
    /// What the first third has left was made for all: pools of threads, caches of the allocator, the pages that many
    /// calls at once need. From then on the least of every later third is compared, for a round may end at a bad moment.
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
#endif
