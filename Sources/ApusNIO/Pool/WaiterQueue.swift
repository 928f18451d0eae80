#if NIO
  /// First come, first served, and leaving from the middle costs no search.
  struct WaiterQueue<ID: Hashable & Sendable>: Sendable {
    /// Who left is a gap until the gaps before it are taken off.
    private var places: [ID?] = []
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

    /// Gives the places in front back once they are the greater part.
    private mutating func compact() {
      guard head == places.count || (head > 32 && head * 2 > places.count) else { return }
      places.removeFirst(head)
      dropped += head
      head = 0
    }
  }
#endif
