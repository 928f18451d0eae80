import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The list of `apus pages`.
struct PagesPlan: Sendable {
  /// How the next page is found.
  enum Next: Sendable, Hashable {
    /// The field `Link` with the relation type `next`.
    case link
    /// The URL at a path in the content.
    case url(at: String)
    /// A query parameter with the cursor at a path in the content.
    case cursor(parameter: String, at: String)
    /// A query parameter with the number of the page, from 1.
    case number(parameter: String)
    /// A query parameter with the number of elements before the page.
    case offset(parameter: String)
  }

  var request: RequestPlan
  /// The path of the array in the content; `nil` for the whole content.
  var items: String?
  var next = Next.link
  /// The maximum number of elements; `nil` for all.
  var limit: Int?
  /// Whether the traces are printed.
  var showsTrace = false

  /// Returns the pages. Their number is not limited: a list that leads back to an earlier page ends with an error.
  ///
  /// - Throws: ``InputError``
  func pages(of client: Client, _ connection: ConnectionPlan) throws(InputError) -> PageSequence<ListPage> {
    let first = try endpoint(connection)
    let pages: PageSequence<ListPage> =
      switch next {
      case .link: client.pages(of: first, next: .link)
      case .url: client.pages(of: first, next: .url { (page: ListPage) -> String? in page.next })
      case .cursor(let name, _):
        client.pages(of: { (cursor: String?) in first.parameter(name, cursor) }, next: .cursor { $0.next })
      case .number(let name):
        client.pages(of: { first.parameter(name, "\($0)") }, next: .number { !$0.elements.isEmpty })
      case .offset(let name):
        client.pages(of: { first.parameter(name, "\($0)") }, next: .offset { $0.elements.count })
      }
    return pages.pageLimit(.max)
  }

  /// Returns the request for the first page, before a parameter is added.
  private func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<ListPage> {
    let url = request.url
    var path: String?
    switch next {
    case .url(let place), .cursor(_, let place): path = place
    case .link, .number, .offset: break
    }
    var endpoint = Request<Content>(
      method: request.method, path: .url("\(url.origin)\(url.target)"), content: try request.content.content(),
      mapping: .content
    ).parsed(by: PageParser(items: items, next: path))
    // The library sends only some of these fields to other origins. The `WrittenMessage` keeps repeated fields separate.
    endpoint.fields = request.fields
    return connection.applied(
      to: endpoint.setting(WrittenMessageKey.self, WrittenMessage(fields: request.fields, origin: url.origin)))
  }
}

extension Request {
  fileprivate func parameter(_ name: String, _ value: String?) -> Request {
    var query = Query()
    query.append(name, value)
    return self.query(query)
  }
}

/// The execution of `apus pages`.
struct Paging: Sendable {
  let plan: PagesPlan
  let connection: ConnectionPlan
  let outputs: Outputs

  /// Prints the elements until the list or the limit ends.
  func run() async -> ExitStatus {
    await outputs.run {
      let client = try await connection.client(
        for: plan.request.url, observers: outputs.observers(showsTraces: plan.showsTrace))
      let terminal = outputs.terminal
      var display = Display(.json, on: terminal.showsOutput ? terminal : nil, isRaw: false)
      var rest = plan.limit ?? .max
      for try await page in try plan.pages(of: client, connection) {
        let lines = Data(page.elements.prefix(rest).flatMap { $0 + [UInt8(ascii: "\n")] })
        if let shown = display.show(lines), !shown.isEmpty { try await outputs.output.write(shown) }
        rest -= min(rest, page.elements.count)
        if rest == 0 { break }
      }
      try await outputs.output.write(display.finish())
    }
  }
}
