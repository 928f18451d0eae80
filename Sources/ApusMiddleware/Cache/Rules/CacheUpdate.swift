import ApusCore
import HTTPTypes

/// A request that the cache has forwarded, when its response arrives.
struct ForwardedRequest: Sendable {
  /// The request of the call, without the conditions that the cache added.
  let request: CacheRequest
  let forward: CacheForward
  /// The responses that are stored under the key of the request now.
  let stored: [StoredResponse]
  let exchange: CacheExchange
  /// The lifetime in seconds that the endpoint gives responses without one.
  var endpointLifetime: Int64?
  /// The groups that the endpoint gives the response.
  var endpointGroups: Set<String> = []

  /// Returns a response with what the endpoint says about it.
  fileprivate func annotated(_ response: StoredResponse) -> StoredResponse {
    var response = response
    response.endpointLifetime = endpointLifetime
    response.endpointGroups = endpointGroups
    return response
  }
}

/// The effect of a response on what is stored, and on the result of the call.
struct CacheUpdate: Hashable, Sendable {
  /// The result of the call.
  enum Result: Hashable, Sendable {
    /// The response as received.
    case received
    /// A stored response that the server has confirmed, with the fields of the 304.
    case stored(StoredResponse)
    /// The server confirmed none of the stored responses: the request must be sent again without added conditions.
    case repeatUnconditionally
  }

  var result = Result.received
  /// The stored responses with new fields; their content stays.
  var freshened: [StoredResponse] = []
  /// The stored responses to remove.
  var outdated: Set<UInt64> = []
  /// The stored responses that must be validated before their next use.
  var invalidated: Set<UInt64> = []
  /// The received response, if it is to be stored.
  var new: StoredResponse?
  /// The reason why the received response is not stored.
  var refusal: CacheRules.Refusal?
  /// Fields of the received 304 that are not stored but belong to the call: cookies.
  var unstoredFields = HTTPFields()

  /// Whether anything that is stored changes.
  var hasEffect: Bool { new != nil || !freshened.isEmpty || !outdated.isEmpty || !invalidated.isEmpty }
}

extension CacheRules {
  /// Returns the effect of a response to a request that was forwarded (RFC 9111 §4.3.3 to §4.3.5).
  func update(after response: HTTPResponse, to forwarded: ForwardedRequest) -> CacheUpdate {
    let request = forwarded.request
    guard request.isCacheable else { return CacheUpdate(refusal: .method) }
    guard !request.directives.noStore else { return CacheUpdate(refusal: .noStore) }
    if response.status == .notModified { return freshening(by: response, of: forwarded) }
    var update = CacheUpdate()
    if request.method == .head, response.status == .ok {
      compare(response, with: forwarded, &update)
      // The fields of a response to GET answer the next HEAD.
      guard update.freshened.isEmpty else { return update }
    }
    store(response, of: forwarded, &update)
    return update
  }

  // MARK: Complete responses

  private func store(_ response: HTTPResponse, of forwarded: ForwardedRequest, _ update: inout CacheUpdate) {
    let request = forwarded.request
    let new = forwarded.annotated(StoredResponse(response, to: request, during: forwarded.exchange))
    let replaced = forwarded.stored.filter { $0.method == request.method && Self.matches($0, request) }
    update.refusal = refusal(toStore: new, for: request)
    if update.refusal == nil, replaced.contains(where: { Self.isNewer($0, than: new) }) { update.refusal = .older }
    if update.refusal == nil { update.new = new }
    // A response that is not stored still shows that the stored one is outdated, unless it is an error or older.
    let isCurrent = update.refusal == nil || (update.refusal != .older && Self.showsCurrentState(response.status))
    if isCurrent { update.outdated = Set(replaced.map(\.id)) }
  }

  /// Whether a stored response is the result of a later request. The response to an earlier one may arrive after it.
  private static func isNewer(_ stored: StoredResponse, than new: StoredResponse) -> Bool {
    stored.date > new.date && stored.exchange.requestTime.wall > new.exchange.requestTime.wall
  }

  private static func showsCurrentState(_ status: HTTPResponse.Status) -> Bool {
    switch status.code {
    case 206: false
    case 200..<400, 404, 410: true
    default: false
    }
  }

  // MARK: 304

  private func freshening(by response: HTTPResponse, of forwarded: ForwardedRequest) -> CacheUpdate {
    var update = CacheUpdate()
    let confirmed = Self.confirmed(by: response.headerFields, forwarded)
    for stored in confirmed {
      let fresh = freshened(stored, by: response, forwarded)
      if refusal(toStore: fresh, for: forwarded.request) == nil {
        update.freshened.append(fresh)
      } else {
        update.outdated.insert(stored.id)
      }
    }
    // A 304 to conditions of the request itself is its result (RFC 9111 §4.3.3).
    guard !forwarded.forward.conditions.isEmpty else { return update }
    let chosen = confirmed.first { $0.id == forwarded.forward.selected } ?? Self.newest(in: confirmed)
    guard let chosen, Self.form(of: chosen, for: forwarded.request) != nil else {
      update.result = .repeatUnconditionally
      return update
    }
    update.result = .stored(freshened(chosen, by: response, forwarded))
    update.unstoredFields[fields: .setCookie] = response.headerFields[fields: .setCookie]
    return update
  }

  private func freshened(
    _ stored: StoredResponse, by response: HTTPResponse, _ forwarded: ForwardedRequest
  ) -> StoredResponse {
    forwarded.annotated(stored.freshened(by: response, to: forwarded.request, during: forwarded.exchange))
  }

  /// Returns the stored responses that a 304 confirms (RFC 9111 §4.3.4): all with the same strong validator, the newest
  /// with the same weak validator, or the only one if the 304 has no validator.
  private static func confirmed(by fields: HTTPFields, _ forwarded: ForwardedRequest) -> [StoredResponse] {
    let (request, forward) = (forwarded.request, forwarded.forward)
    let complete = forwarded.stored.filter { $0.isComplete && $0.answers(request.method) }
    let matching = complete.filter { matches($0, request) }
    let named = forward.conditions.isEmpty ? matching : complete.filter { forward.candidates.contains($0.id) }
    guard let tag = EntityTag(fields) else {
      // Variants may have the same date, so a date concerns only the response that the request named.
      guard let date = fields.single(.lastModified) else { return named.count == 1 ? named : [] }
      return newest(in: named, where: { $0.lastModified == date }).map { [$0] } ?? []
    }
    let equal = complete.filter { $0.entityTag.map { tag.isStronglyEqual(to: $0) } ?? false }
    if !equal.isEmpty { return equal }
    // Some servers send the strong tag in a 304 to the weak tag of a compressed response. The condition named that weak
    // tag, so the 304 confirms it.
    let similar = (tag.isWeak ? complete : named).filter { $0.entityTag?.isWeaklyEqual(to: tag) ?? false }
    let chosen = newest(in: similar, where: { matches($0, request) }) ?? newest(in: similar)
    return chosen.map { [$0] } ?? []
  }

  // MARK: HEAD

  /// Compares a response to HEAD with the stored responses to GET (RFC 9111 §4.3.5): the same status,
  /// validators and length freshen, others invalidate.
  private func compare(_ response: HTTPResponse, with forwarded: ForwardedRequest, _ update: inout CacheUpdate) {
    for stored in forwarded.stored where stored.method == .get && Self.matches(stored, forwarded.request) {
      if stored.status == response.status, Self.describes(response.headerFields, stored) {
        let fresh = freshened(stored, by: response, forwarded)
        if refusal(toStore: fresh, for: forwarded.request) == nil {
          update.freshened.append(fresh)
        } else {
          update.outdated.insert(stored.id)
        }
      } else {
        update.invalidated.insert(stored.id)
      }
    }
  }

  private static func describes(_ fields: HTTPFields, _ stored: StoredResponse) -> Bool {
    if fields.contains(.eTag), EntityTag(fields) != stored.entityTag { return false }
    if let date = fields[.lastModified], date != stored.fields[.lastModified] { return false }
    // The length of decoded content is not the length that the server states.
    guard let length = fields[.contentLength], stored.servesRanges else { return true }
    return length == stored.fields[.contentLength] ?? stored.contentLength.map { String($0) }
  }
}
