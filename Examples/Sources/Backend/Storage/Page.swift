/// A page of a list.
struct Page<Item: Sendable>: Sendable {
  let items: [Item]
  let number: Int
  let size: Int
  /// The number of items of the whole list.
  let total: Int

  /// The number of pages; 0 for an empty list.
  var count: Int { (total + size - 1) / size }
}

/// A requested page: its number, from 1, and its size.
struct PageRequest: Sendable {
  let number: Int
  let size: Int

  var offset: Int { (number - 1) * size }
}

extension PageRequest {
  /// Returns the page of a list in memory.
  func page<Item>(of list: [Item]) -> Page<Item> {
    let start = min(offset, list.count)
    let end = min(start + size, list.count)
    return Page(items: Array(list[start..<end]), number: number, size: size, total: list.count)
  }
}
