/// A stretch of a longer list, counted from page 1.
struct Page<Item: Sendable>: Sendable {
  let items: [Item]
  let number: Int
  let size: Int
  /// How many items the whole list has.
  let total: Int

  /// How many pages the whole list has; an empty list has none.
  var count: Int { (total + size - 1) / size }
}

/// Which stretch of a list is asked for.
struct PageRequest: Sendable {
  let number: Int
  let size: Int

  var offset: Int { (number - 1) * size }
}

extension PageRequest {
  /// The stretch of a list that is at hand as a whole.
  func page<Item>(of list: [Item]) -> Page<Item> {
    let start = min(offset, list.count)
    let end = min(start + size, list.count)
    return Page(items: Array(list[start..<end]), number: number, size: size, total: list.count)
  }
}
