extension Endpoint {
  /// Lets calls of this endpoint share the exchange of whatever call asks for the same at the same time, without an id.
  ///
  /// The same is: method, URL, fields (but ``CoalescingLimits/perCallFields``), content, environment, principal
  /// (``PrincipalKey``), tags, limit of content, and every setting that tells calls apart
  /// (``ContextKey/tellsCallsApart``). Only safe methods share: GET, HEAD, OPTIONS and QUERY (RFC 9110 §9.2.1, RFC
  /// 10008); for others this changes nothing. Neither does it for streamed answers, nor for content that is a file or a
  /// stream.
  ///
  /// Each call keeps its own deadline, decodes for itself, and can be cancelled alone; the exchange ends with the last
  /// that waits for it, and is as urgent as the most urgent of them. An answer that has begun is not joined when it is
  /// marked `no-store` (RFC 9111 §5.2.2.5) or has become large (``CoalescingLimits/sharedBytes``); that of an attempt
  /// that failed hinders nobody while the next is waited for. What is tried again, and how often, is said by the call
  /// that began.
  ///
  /// The exchange itself has no call's deadline, so what stands further in decides without one: retry and a rate
  /// limiter do not ask whether a pause is over in time, and to a breaker an exchange that all have left at their
  /// deadlines is no failure. Where the pause is longer than a call's time, that call waits until its deadline; one
  /// that does not share fails at once.
  ///
  /// A call whose id says ``DuplicatePolicy/join`` goes by its id alone.
  ///
  /// - Parameter isCoalesced: whether they share. Default: yes. Where nothing is said, ``ClientSettings/coalesces``
  ///   counts.
  public func coalesced(_ isCoalesced: Bool = true) -> Request<Value> {
    modified { $0.options.coalesces = isCoalesced }
  }
}
