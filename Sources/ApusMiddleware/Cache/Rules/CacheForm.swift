import ApusCore
import HTTPTypes

extension CacheRules {
  /// Returns the form in which a stored response answers a request, or `nil` if only the server has the requested range.
  static func form(of stored: StoredResponse, for request: CacheRequest) -> CacheHit.Form? {
    if request.isConditional, isUnmodified(stored, request) { return .notModified }
    if request.method == .head || stored.method == .head { return .head }
    guard let range = request.range, stored.status == .ok, isCurrent(stored, request) else { return .whole }
    guard stored.servesRanges, let part = stored.contentLength.flatMap({ range.part(of: $0) }) else { return nil }
    return .part(part)
  }

  /// Whether the client has the stored response already (RFC 9111 §4.3.2). `If-None-Match` takes precedence over
  /// `If-Modified-Since`.
  private static func isUnmodified(_ stored: StoredResponse, _ request: CacheRequest) -> Bool {
    guard stored.status.kind == .successful else { return false }
    if let tags = request.fields[.ifNoneMatch] { return EntityTagList(tags).matches(stored.entityTag) }
    guard let limit = request.fields.single(.ifModifiedSince).flatMap({ HTTPDate.parse($0) }) else { return false }
    return (stored.lastModified.flatMap { HTTPDate.parse($0) } ?? stored.date) <= limit
  }

  /// The number of seconds after which a modification date is a strong validator (RFC 9110 §8.8.2.2).
  private static let strongAge: Int64 = 60

  /// Whether a range continues the stored response: there is no `If-Range`, or it has the same strong validator (RFC
  /// 9110 §13.1.5). Otherwise the complete response is the result.
  private static func isCurrent(_ stored: StoredResponse, _ request: CacheRequest) -> Bool {
    guard request.fields.contains(.ifRange) else { return true }
    guard let text = request.fields.single(.ifRange) else { return false }
    if let tag = EntityTag(FieldList.trimmed(Array(text.utf8)[...])) {
      return stored.entityTag?.isStronglyEqual(to: tag) ?? false
    }
    guard text == stored.lastModified, let changed = HTTPDate.parse(text) else { return false }
    return stored.date.clampedMinus(changed) >= strongAge
  }
}

extension CacheHit {
  /// The head of the result: the stored fields with the current `Age` (RFC 9111 §4, §5.1).
  var head: HTTPResponse {
    var head = HTTPResponse(status: stored.status, headerFields: stored.fields)
    head.headerFields[.age] = String(min(max(0, freshness.age / 1000), CacheControl.maximumSeconds))
    switch form {
    case .whole, .head:
      break
    case .part(let part):
      head.status = .partialContent
      head.headerFields[.contentRange] = part.contentRange
      head.headerFields[.contentLength] = String(part.count)
    case .notModified:
      head.status = .notModified
      head.headerFields.removeAll { Self.contentFields.contains($0.name.canonicalName) }
    }
    return head
  }

  /// Fields that describe the content, which a 304 does not have (RFC 9110 §15.4.5).
  private static let contentFields: Set<String> = [
    "content-encoding", "content-language", "content-length", "content-range", "content-type",
  ]

  /// The decision for `Cache-Status`.
  var cacheStatus: CacheStatus {
    var status = CacheStatus(
      remainingSeconds: freshness.age == ResponseFreshness.unknownAge ? nil : freshness.remainingSeconds)
    status.isStale = !freshness.isFresh
    return status
  }
}
