#if NIO
  /// First come, first served, and leaving from the middle costs no search.
  struct WaiterQueue<ID: Hashable & Sendable>: Sendable {
    /// Who left is a gap until the gaps before it are taken off.
    private(set) var places: [ID?] = []
    private var head = 0
    /// Where each one stands, counted from the first place there ever was.
    private var numbers: [ID: Int] = [:]
    private var dropped = 0

    var count: Int { numbers.count }
    var isEmpty: Bool { numbers.isEmpty }

    /// Whoever came first. Who left in front is no gap any more.
    var first: ID? { head < places.count ? places[head] : nil }

    /// Everyone, in order.
    var all: [ID] { places[head...].compactMap { $0 } }

    mutating func append(_ id: ID) {
      guard numbers[id] == nil else { return }
      numbers[id] = dropped + places.count
      places.append(id)
    }

    mutating func popFirst() -> ID? {
      guard let id = first else { return nil }
      _ = remove(id)
      return id
    }

    /// Takes one out; answers whether it was there.
    mutating func remove(_ id: ID) -> Bool {
      guard let number = numbers.removeValue(forKey: id) else { return false }
      places[number - dropped] = nil
      while head < places.count, places[head] == nil { head += 1 }
      compact()
      return true
    }

    /// Removes the gaps once they are the greater part, so that a waiter in front that stays does not keep the gaps of
    /// those behind it that left.
    private mutating func compact() {
      if head == places.count {
        dropped += head
        (places, head) = ([], 0)
      } else if places.count > 32 + 2 * numbers.count {
        let waiting = all
        dropped += head
        (places, head) = (waiting, 0)
        for (offset, id) in waiting.enumerated() { numbers[id] = dropped + offset }
      }
    }
  }
#endif
