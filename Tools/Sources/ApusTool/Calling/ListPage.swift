import Apus

/// A page of a list: its elements as lines of JSON, and the URL or the cursor of the next page.
struct ListPage: Sendable {
  var elements: [[UInt8]]
  /// The URL or the cursor of the next page; `nil` for none.
  var next: String?
}

// The page is a collection, so that the library can end an infinite list whose pages have no elements.
extension ListPage: RandomAccessCollection {
  var startIndex: Int { elements.startIndex }
  var endIndex: Int { elements.endIndex }
  subscript(position: Int) -> [UInt8] { elements[position] }
}

/// A parser of pages in JSON.
struct PageParser: ContentParser {
  /// A page without the expected values.
  struct Fault: LoggableError, Hashable {
    let description: String
  }

  /// The path of the array of elements, such as `data.items`; `nil` for the whole content.
  var items: String?
  /// The path of the URL or the cursor of the next page; `nil` if the content has none.
  var next: String?

  var accept: MediaType? { .json }

  /// - Throws: ``Fault``; `JSONError` for content that is not JSON.
  func parse(_ content: Content) throws -> ListPage {
    let page = try JSONSlice(parsing: content.data)
    return ListPage(elements: try elements(of: page), next: try next(of: page))
  }

  private func elements(of page: JSONSlice) throws(Fault) -> [[UInt8]] {
    guard let place = page.at(Self.keys(items)) else {
      throw Fault(description: "the content has no value at \(items ?? "its top")")
    }
    if let elements = place.elements { return elements.map(\.line) }
    // Some servers write an empty array as null.
    if items != nil, place.value == .null { return [] }
    let advice = items == nil ? "the content is not an array; name its array with --items" : ""
    throw Fault(description: items.map { "the value at \($0) is not an array" } ?? advice)
  }

  private func next(of page: JSONSlice) throws(Fault) -> String? {
    guard let next, let value = page.at(Self.keys(next))?.value else { return nil }
    switch value {
    case .string(let text): return text.isEmpty ? nil : text
    case .number(let number): return number.description
    case .null, .bool(false): return nil
    case .bool, .array, .object: throw Fault(description: "the value at \(next) is neither a text nor a number")
    }
  }

  private static func keys(_ path: String?) -> [String] {
    path?.split(separator: ".").map(String.init) ?? []
  }
}
