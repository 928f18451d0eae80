import ApusCore
import HTTPTypes

/// The redirects of one attempt, one after the other: a pure state machine that says what follows from an answer.
struct RedirectChain {
  /// What follows from an answer.
  enum Step {
    /// It is no redirect, but what the call gets.
    case answer
    /// The call goes on with another request.
    case follow(Hop)
    /// It is a redirect that must not be followed.
    case refuse(RedirectRefusal)
  }

  /// A request that a redirect led to.
  struct Hop {
    let request: RequestMessage
    let from: Origin
    let to: Origin
    /// How many fields were not carried along since they are nobody's business at the other origin.
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
  /// Where the call has been since a cookie was set the last time: with a new one the same place may answer otherwise.
  private var visits: Set<Visit> = []

  init(_ limits: RedirectPolicy.Limits, from request: RequestMessage) {
    self.limits = limits
    firstHost = request.origin?.host
  }

  /// - Parameters:
  ///   - head: the answer.
  ///   - request: the request that it answers, as it was before anything further in changed it.
  ///   - credentials: what must not reach another origin.
  mutating func step(
    after head: HTTPResponse, to request: RequestMessage, without credentials: CredentialFields
  ) -> Step {
    guard ResponseMessage.isRedirect(head) else { return .answer }
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
    if from.scheme == "https", location.origin.scheme == "http", !limits.allowsInsecure { throw .insecure }
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
    guard count < limits.hops else { throw .tooMany(limit: limits.hops) }
    count += 1
    return hop
  }

  private static func location(
    in head: HTTPResponse, _ base: Origin, _ target: String
  ) throws(RedirectRefusal) -> LocationReference {
    var found: LocationReference?
    for field in head.headerFields[fields: .location] {
      let bytes = field.withUnsafeBytesOfValue { Array($0) }
      let location = try LocationReference(bytes, at: base, target)
      guard found == nil || found == location else { throw .malformedLocation("it has several Locations") }
      found = location
    }
    guard let found else { throw .malformedLocation("it has no Location") }
    return found
  }

  /// A request on its way to another origin: without what was meant for the first one alone.
  private static func leaving(
    _ from: Origin, with request: RequestMessage, to: Origin, _ credentials: CredentialFields
  ) -> Hop {
    var request = request
    let before = request.head.headerFields.count
    request.head.headerFields.removeAll { credentials.contain($0) }
    request.target = credentials.removed(from: request.target)
    let dropped = before - request.head.headerFields.count
    request.generaliseSource(to: to)
    return Hop(request: request, from: from, to: to, droppedFields: dropped)
  }

  private mutating func visit(
    _ next: RequestMessage, after request: RequestMessage, _ head: HTTPResponse
  ) throws(RedirectRefusal) {
    if head.headerFields[.setCookie] != nil { visits = [] } else { visits.insert(Visit(request)) }
    guard !visits.contains(Visit(next)) else { throw .loop }
  }
}
