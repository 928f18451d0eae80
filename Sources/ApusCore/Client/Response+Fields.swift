import HTTPTypes

extension Response {
  /// The links of the `Link` fields, in order (RFC 8288).
  public var links: [WebLink] { WebLink.all(in: fields) }

  /// Returns the first link with a relation type such as `next`, in any case, that is about this resource and no other
  /// (RFC 8288 §3.2).
  public func link(_ relation: String) -> WebLink? {
    let relation = relation.lowercased()
    return links.first { $0.relations.contains(relation) && $0.parameter("anchor") == nil }
  }

  /// What the response says of the server's rate limit; `nil`: nothing.
  public var rateLimit: ServerRateLimit? { ServerRateLimit(fields) }
}
