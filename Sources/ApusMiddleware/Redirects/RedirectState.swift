import ApusCore
import HTTPTypes

/// The redirects of one attempt. A pure state machine that decides the step after each response.
struct RedirectState {
  /// The step after a response.
  enum Step {
    /// The response is final.
    case finish
    /// The redirect is followed with this request.
    case follow(Hop)
    /// The redirect must not be followed.
    case refuse(RedirectRefusal)
  }

  /// A request that follows a redirect.
  struct Hop {
    let request: RequestMessage
    let from: Origin
    let to: Origin
    /// The number of fields that were removed because the origin changed.
    var droppedFields = 0
  }

  private struct Visit: Hashable {
    let method: String
    let url: String

    init(_ request: RequestMessage) {
      method = request.head.method.rawValue
      url = request.url
    }
  }

  private let limits: RedirectPolicy.Limits
  private let firstHost: String?
  private var count = 0
  /// The requests already sent, to detect loops. Cleared when a redirect sets a cookie, because the same request may then
  /// get another response.
  private var visits: Set<Visit> = []
  /// Whether a redirect has set a cookie.
  private(set) var setsCookies = false

  init(_ limits: RedirectPolicy.Limits, from request: RequestMessage) {
    self.limits = limits
    firstHost = request.origin?.host
  }

  /// - Parameters:
  ///   - head: the response.
  ///   - request: the request of the response, before inner middlewares changed it.
  ///   - credentials: the fields and parameters that must not be sent to another origin.
  mutating func step(
    after head: HTTPResponse, to request: RequestMessage, without credentials: CredentialFields
  ) -> Step {
    guard ResponseMessage.isRedirect(head) else { return .finish }
    do throws(RedirectRefusal) {
      return .follow(try follow(head, request, credentials))
    } catch {
      return .refuse(error)
    }
  }

  private mutating func follow(
    _ head: HTTPResponse, _ request: RequestMessage, _ credentials: CredentialFields
  ) throws(RedirectRefusal) -> Hop {
    guard let from = request.origin else { throw .malformedLocation("the request has no origin") }
    let location = try Self.location(in: head, from, request.target)
    if location.origin.isDowngrade(from: from), !limits.allowsInsecure { throw .insecure }
    if let hosts = limits.hosts, location.origin.host != firstHost, !hosts.contains(location.origin.host) {
      throw .hostNotAllowed
    }
    var next = request
    next.adaptMethod(to: head.status)
    guard next.content.isReplayable else { throw .contentNotReplayable }
    next.head.scheme = location.origin.scheme
    next.head.authority = location.origin.authority
    next.target = location.target
    var hop = Hop(request: next, from: from, to: location.origin)
    if from != location.origin { hop = Self.leaving(from, with: next, to: location.origin, credentials) }
    try visit(hop.request, after: request, head)
    guard count < limits.hops else { throw .tooManyRedirects(limit: limits.hops) }
    count += 1
    return hop
  }

  private static func location(
    in head: HTTPResponse, _ base: Origin, _ target: String
  ) throws(RedirectRefusal) -> URLReference {
    let found: URLReference?
    do {
      found = try URLReference.location(in: head.headerFields, relativeTo: (base, target))
    } catch {
      switch error {
      case .unsupportedScheme: throw .unsupportedScheme
      case .several: throw .malformedLocation("it has several Locations")
      default: throw .malformedLocation("its Location \(error.reason)")
      }
    }
    guard let found else { throw .malformedLocation("it has no Location") }
    return found
  }

  /// Removes the fields and parameters that must not be sent to another origin.
  private static func leaving(
    _ from: Origin, with request: RequestMessage, to: Origin, _ credentials: CredentialFields
  ) -> Hop {
    var request = request
    let before = request.head.headerFields.count
    request.head.headerFields.removeAll { credentials.contain($0) }
    request.target = credentials.removed(from: request.target)
    let dropped = before - request.head.headerFields.count
    request.generalizeSource(to: to)
    return Hop(request: request, from: from, to: to, droppedFields: dropped)
  }

  private mutating func visit(
    _ next: RequestMessage, after request: RequestMessage, _ head: HTTPResponse
  ) throws(RedirectRefusal) {
    if head.headerFields.contains(.setCookie) {
      setsCookies = true
      visits = []
    } else {
      visits.insert(Visit(request))
    }
    guard !visits.contains(Visit(next)) else { throw .loop }
  }
}

extension RequestMessage {
  /// Changes the method according to a redirect's status (RFC 9110 §15.4): 303 redirects to another resource; after 301
  /// and 302 all clients turn a POST into a GET. If the method changes to GET, the content is removed.
  mutating func adaptMethod(to status: HTTPResponse.Status) {
    switch status.code {
    case 303: if head.method != .head { head.method = .get }
    case 301 where head.method == .post, 302 where head.method == .post: head.method = .get
    default: return
    }
    content = .empty
    head.headerFields.removeAll { field in
      let name = field.name.canonicalName
      return name.utf8.starts(with: "content-".utf8) || Self.contentFields.contains(name)
    }
  }

  /// Fields that describe the content and do not begin with `content-`.
  private static let contentFields: Set<String> = ["digest", "repr-digest", "last-modified", "expect"]

  /// Reduces `Referer` and `Origin` in a request to another origin.
  ///
  /// `Referer` keeps only the origin of the page, and is removed on a redirect from https to http. `Origin` becomes
  /// `null`, because the other server cannot trust it after a redirect (RFC 6454 §7.2).
  mutating func generalizeSource(to: Origin) {
    if let referer = head.headerFields[.referer] {
      let bytes = referer.utf8
      let authority = bytes.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
      let end = authority.firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
      let source = (try? BaseURL(String(referer[..<end])))?.origin
      let isDowngrade = source?.scheme == "https" && to.scheme == "http"
      head.headerFields[.referer] = isDowngrade ? nil : source.map { "\($0)/" }
    }
    if head.headerFields[.origin] != nil { head.headerFields[.origin] = "null" }
  }
}
