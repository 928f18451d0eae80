import ApusCore
import ApusTesting
import HTTPTypes
import Testing

/// A page of a list, with all kinds of references to the next page.
struct ItemPage: Codable, Sendable, Equatable {
  var items: [Int] = []
  var number = 1
  var total = 1
  /// The URL of the next page.
  var next: String?
  /// The cursor of the next page.
  var cursor: String?
  var isLast: Bool { number >= total }
}

struct GetPage: Endpoint {
  let number: Int
  var request: Request<ItemPage> { .get("/items", query: ["page": number]) }
}

extension Endpoint where Self == Request<ItemPage> {
  static var items: Self { .get("/items") }
  static func items(page: Int) -> Self { .get("/items", query: ["page": page]) }
  static func items(after cursor: String?) -> Self { .get("/items", query: ["after": cursor]) }
  static func items(afterID id: Int?) -> Self { .get("/items", query: ["after": id]) }
  static func items(offset: Int) -> Self { .get("/items", query: ["offset": offset]) }
}

/// Endpoints whose value type is determined by the call.
enum ItemAPI: Endpoint {
  case items(page: Int)
  case all
  var request: Request<Content> {
    switch self {
    case .items(let page): .get("/items", query: ["page": page])
    case .all: .get("/items")
    }
  }
}

/// A client over a stub for lists of pages.
struct PageBench {
  let stub = StubTransport()
  var api: Client { Client(environment: Environment(baseURL: "https://example.test"), transport: stub) }

  /// The targets of all requests, in order.
  var targets: [String] { stub.exchanges.map(\.target) }

  /// The numbered pages of `/items`.
  var numbered: PageSequence<ItemPage> { api.pages(of: { .items(page: $0) }, next: .number { !$0.isLast }) }

  /// Stubs the numbered pages 1 to `count`, each with two items.
  func stubPages(_ count: Int) {
    for number in 1...count {
      let page = ItemPage(items: [2 * number - 1, 2 * number], number: number, total: count)
      stub.on(.get, "/items?page=\(number)", reply: .encoded(page))
    }
  }

  /// Stubs a page at a target. The URL of the next page is in the content and in a `Link` field.
  func stubPage(_ target: String, _ items: [Int], next: String? = nil, cursor: String? = nil) {
    let page = ItemPage(items: items, next: next, cursor: cursor)
    let links = linkField(next.map { #"<\#($0)>; rel="next""# })
    stub.on(.get, target, reply: .encoded(page, fields: links))
  }
}

/// Returns a `Link` field.
func linkField(_ value: String?) -> HTTPFields {
  guard let value, let name = HTTPField.Name("Link") else { return [:] }
  return [name: value]
}

/// Returns the items of all pages, and the error that ended the loop.
func collect(
  _ pages: some AsyncSequence<ItemPage, CallError>
) async -> (items: [Int], error: CallError?) {
  var items: [Int] = []
  do throws(CallError) {
    for try await page in pages { items += page.items }
    return (items, nil)
  } catch {
    return (items, error)
  }
}

/// Returns all elements of a sequence.
func all<Element>(_ elements: some AsyncSequence<Element, CallError>) async throws(CallError) -> [Element] {
  var result: [Element] = []
  for try await element in elements { result.append(element) }
  return result
}

/// Returns the error of the next step of a loop.
func nextError<Iterator: AsyncIteratorProtocol>(
  _ iterator: inout Iterator
) async -> CallError? where Iterator.Failure == CallError {
  do throws(CallError) {
    _ = try await iterator.next(isolation: #isolation)
    return nil
  } catch {
    return error
  }
}
