import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The location of the next page's URL in a response.
///
/// <!-- sample: next-url -->
/// ```swift
/// let users = api.pages(of: .users, next: .link)                     // Link: </users?page=2>; rel="next"
/// let orders = api.pages(of: .orders, next: .url { $0.next })        // {"next": "/orders?page=2"}
/// let linked = api.pages(of: .orders, next: .url(\.links.next))      // {"links": {"next": "…"}}
///
/// struct Orders: Codable, Sendable {
///   struct Links: Codable, Sendable { var next: String? }
///   var next: URL?
///   var links: Links
/// }
/// extension Endpoint where Self == Request<Orders> {
///   static var orders: Self { .get("/orders") }
/// }
/// ```
///
/// The URL may be relative to the URL of the response (RFC 3986 §5). It is requested with GET and with the fields
/// (headers), tags, limits and settings of the endpoint, but without its path, query and content (body). No query
/// parameter of the environment is added. If the URL cannot be used, for example because its scheme is neither http nor
/// https, the call for the next page fails with the code `malformedResponse`. It also fails for an http URL from a
/// response received over https, unless the call's redirect policy permits redirects from https to http.
///
/// The environment's credentials and sensitive fields are sent only to their own origins. An origin is foreign if it
/// differs from the origins of the environment and the endpoint and is not trusted by the endpoint. Of the endpoint's
/// fields, a foreign origin receives only the fields whose values may be logged (``Redaction/defaultFields``).
public struct NextPageURL<Page: Sendable>: Sendable {
  /// The statement of a response about the next page.
  enum Statement {
    /// The URL as the server wrote it. Empty after the last page.
    case url(String)
    /// The response names a next page in a way that cannot be read, for this reason.
    case unreadable(String)
  }

  /// Returns the statement of a response, or `nil` after the last page.
  let statement: @Sendable (Response<Page>) -> Statement?

  private init(text: @escaping @Sendable (Response<Page>) -> String?) {
    statement = { text($0).map { .url($0) } }
  }

  private init(statement: @escaping @Sendable (Response<Page>) -> Statement?) {
    self.statement = statement
  }

  /// The `Link` field with the relation type `next` (RFC 8288). The list ends with a page without such a link.
  ///
  /// Values in single quotes and links without a comma between them are accepted. A field that cannot be parsed, but
  /// has a parameter `rel` with the word `next`, does not end the list: the call for the next page fails with the code
  /// `malformedResponse`.
  public static var link: NextPageURL {
    NextPageURL(statement: { response in
      let links = WebLinks(in: response.fields)
      if let link = links.first(WebLinks.next) { return .url(link.target) }
      return links.hidesNext ? .unreadable("the server named a next page in a Link field that cannot be parsed") : nil
    })
  }

  /// Reads the URL of the next page from the content of a page.
  ///
  /// - Parameter next: returns the URL of the next page, complete or relative. `nil` or an empty text after the last
  ///   page.
  public static func url(_ next: @escaping @Sendable (_ page: Page) -> String?) -> NextPageURL {
    NextPageURL(text: { next($0.value) })
  }

  /// Reads the URL of the next page from the content of a page.
  ///
  /// - Parameter next: returns the URL of the next page, complete or relative. `nil` after the last page.
  @_disfavoredOverload
  public static func url(_ next: @escaping @Sendable (_ page: Page) -> URL?) -> NextPageURL {
    NextPageURL(text: { next($0.value)?.absoluteString })
  }
}

extension NextPageURL {
  /// Returns the pages from an endpoint's first page on.
  func source(from first: Request<Page>) -> PageSource<Page> {
    PageSource(
      request: { position, origins in
        guard let position else { return first }
        return first.following(position, origins)
      },
      turn: { response, _ in
        let next: PagePosition? =
          switch statement(response) {
          case nil: nil
          case .url(let text): text.isEmpty ? nil : PagePosition(url: text, relativeTo: response.url)
          case .unreadable(let reason): PagePosition(.unusable(reason))
          }
        return PageSource.Turn(own: response.url.map(PagePosition.init(url:)), next: next)
      },
      comparesPages: false)
  }
}

extension PagePosition {
  fileprivate init(url: String) {
    self.init(url: url, relativeTo: nil)
  }

  /// Creates a position from a URL, which is completed and normalized.
  fileprivate init(url: String, relativeTo base: String?) {
    let path = RequestPath.url(url, relativeTo: base)
    guard path.fault == nil, let origin = path.origin else {
      self.init(.unusable(path.fault ?? "the URL cannot be used"))
      return
    }
    self.init(.url("\(origin)\(path.encoded)\(path.query.map { "?" + $0 } ?? "")"))
  }
}

extension Request {
  /// Returns the request for a position that a response to this request named.
  fileprivate func following(_ position: PagePosition, _ origins: PageOrigins) -> Request {
    var request = details
    switch position.place {
    case .url(let url):
      let path = RequestPath.url(url)
      // A position is created only from a valid URL, so an invalid URL comes from a stored position.
      request.follow(path.fault == nil ? path.named(by: origins.source(after: request)) : path, home: origins.home)
    case .unusable(let reason): request.failure = TransportError.namedURL(reason)
    case .cursor, .number, .offset: request.failure = CallFault.misplaced
    }
    var next = self
    next.details = request
    return next
  }
}

extension RequestDescription {
  /// Replaces the target with the URL of a link and removes the content, because a link names a resource to read.
  fileprivate mutating func follow(_ url: RequestPath, home: Origin?) {
    let homes = options.values[TrustedOriginsKey.self].union([home, path.origin].compactMap(\.self))
    if let origin = url.origin, !homes.contains(origin) {
      fields.removeAll { $0.isSensitive || !Redaction.defaultFields.contains($0.name.lowercased()) }
    }
    (method, path, query, content) = (.get, url, [:], .empty)
  }
}
