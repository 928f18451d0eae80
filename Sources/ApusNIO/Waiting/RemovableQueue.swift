/// A first-in, first-out queue from which any element can be removed without a search.
struct RemovableQueue<ID: Hashable & Sendable>: Sendable {
  /// The queue in order. Removed elements are `nil` until the array is compacted.
  private(set) var places: [ID?] = []
  private var head = 0
  /// The position of each element, counted from the first element ever added.
  private var numbers: [ID: Int] = [:]
  private var dropped = 0

  var count: Int { numbers.count }
  var isEmpty: Bool { numbers.isEmpty }

  /// The element that has waited longest.
  var first: ID? { head < places.count ? places[head] : nil }

  /// All elements, in order.
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

  /// Removes an element. Returns whether the element was in the queue.
  mutating func remove(_ id: ID) -> Bool {
    guard let number = numbers.removeValue(forKey: id) else { return false }
    places[number - dropped] = nil
    while head < places.count, places[head] == nil { head += 1 }
    compact()
    return true
  }

  /// Removes the gaps once they outnumber the elements, so that the array does not grow while the first element stays.
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
