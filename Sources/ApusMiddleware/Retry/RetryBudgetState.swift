import ApusCore

/// What is spent of a budget at each origin: pure.
struct RetryBudgetState: Hashable {
  /// More origins than this are not kept: the one that has spent least is forgotten.
  static let limit = 1024

  let capacity: Int
  /// Only origins that have spent something.
  private(set) var spent: [Origin: Int] = [:]

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Whether nothing is spent anywhere.
  var isUntouched: Bool { spent.isEmpty }

  /// How much is left at an origin.
  func rest(at origin: Origin) -> Int { capacity - (spent[origin] ?? 0) }

  /// Takes out what an attempt costs; answers whether there was so much. Otherwise nothing is taken.
  mutating func withdraw(_ cost: Int, at origin: Origin) -> Bool {
    guard cost > 0 else { return true }
    guard cost <= rest(at: origin) else { return false }
    if spent[origin] == nil, spent.count >= Self.limit, let least = spent.min(by: { $0.value < $1.value })?.key {
      spent[least] = nil
    }
    spent[origin, default: 0] += cost
    return true
  }

  /// Gives back; there is never more than the capacity.
  mutating func deposit(_ amount: Int, at origin: Origin) {
    guard amount > 0, let debt = spent[origin] else { return }
    spent[origin] = amount < debt ? debt - amount : nil
  }
}
