// Every modifier gives a `Request`, so they can be chained on every endpoint style in any order.

extension Endpoint {
  /// The endpoint's request with a change applied; the base of all modifiers.
  public func modified(_ change: (inout Request<Value>) -> Void) -> Request<Value> {
    var request = described
    change(&request)
    return request
  }

  /// Gives calls of this endpoint an id, and says what happens when a running call has it already.
  public func id(_ id: CallID, whenRunning duplicates: DuplicatePolicy) -> Request<Value> {
    modified {
      $0.options.id = id
      $0.options.duplicates = duplicates
    }
  }

  /// Lets a newer call with the same id supersede this one: its result never reaches the app.
  public func latestWins(_ id: CallID) -> Request<Value> {
    self.id(id, whenRunning: .replace)
  }

  /// Adds tags.
  public func tag(_ tags: Tag...) -> Request<Value> {
    modified { $0.options.tags += tags }
  }

  /// Limits the whole call: waiting, all attempts and content, whether it moves or not.
  ///
  /// A call that sets no limit has the client's default, which does not count time in which content moves
  /// (``CallContext/limitUntilContentMoves(_:)``). With a limit of more than 30 seconds, or none, its attempts have no
  /// limit either unless it sets one (`attemptTimeout`), so that a long poll is sent once.
  ///
  /// - Parameter timeout: how long the call may take; not positive: nothing is sent. `nil`: no limit at all.
  public func timeout(_ timeout: Duration?) -> Request<Value> {
    modified { $0.options.timeout = timeout ?? .seconds(Int64.max) }
  }

  /// Limits the content of the answer to so many bytes; more is an error.
  public func contentLimit(_ bytes: Int) -> Request<Value> {
    modified { $0.options.contentLimit = bytes }
  }

  /// Sets a field, in place of one with the same name in any case.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - value: the value.
  ///   - isSensitive: whether it is a secret, see ``RawField/isSensitive``. Default: it is not.
  public func field(_ name: String, _ value: String, isSensitive: Bool = false) -> Request<Value> {
    modified {
      $0.fields.removeAll { $0.name.utf8.lowercasedEqual(name.utf8) }
      $0.fields.append(RawField(name, value, isSensitive: isSensitive))
    }
  }

  /// Adds query parameters behind those there are.
  public func query(_ query: Query) -> Request<Value> {
    modified { $0.query.append(query) }
  }

  /// Sets what is sent as content.
  public func content(_ content: RequestContent) -> Request<Value> {
    modified { $0.content = content }
  }

  /// Sets the JSON coders of this endpoint or call.
  public func json(_ json: JSONCoding) -> Request<Value> {
    coding { $0.json = json }
  }

  /// Sets how query parameters are written.
  public func queryStyle(_ style: QueryStyle) -> Request<Value> {
    coding { $0.query = style }
  }

  /// Changes the coders and styles of this endpoint or call.
  public func coding(_ change: (inout CodingOptions) -> Void) -> Request<Value> {
    modified { request in
      var coding = request.options.coding ?? CodingOptions()
      change(&coding)
      request.options.coding = coding
    }
  }

  /// Sets which statuses are accepted.
  public func accepting(_ acceptance: StatusAcceptance) -> Request<Value> {
    modified { $0.acceptance = acceptance }
  }

  /// Reads a refused answer's JSON as the endpoint's own error type, for ``CallError/rejection(as:)``.
  public func rejecting<Rejected: Decodable & Sendable>(as type: Rejected.Type) -> Request<Value> {
    modified { $0.details.rejectionDecoder = { try? $0.decode(Rejected.self) } }
  }

  /// Sets how an accepted answer becomes the value.
  public func mapping(_ mapping: ResponseMapping<Value>) -> Request<Value> {
    modified { $0.mapping = mapping }
  }

  /// Reads the answer by a parser of the app's own, which need not use `Codable`.
  public func parsed<Parser: ContentParser>(by parser: Parser) -> Request<Parser.Value> {
    described.mapped(by: .parsed(by: parser))
  }

  /// Sets a setting for a middleware.
  public func setting<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> Request<Value> {
    modified { $0.options.values[key] = value }
  }
}

extension Endpoint where Value: Decodable {
  /// Decodes the part of the JSON answer at a path such as `data.items`.
  public func at(_ keyPath: String) -> Request<Value> {
    mapping(.decoded(at: keyPath))
  }

  /// Decodes the answer from an envelope such as `{code, message, data}`.
  public func enveloped(_ envelope: EnvelopeFormat) -> Request<Value> {
    mapping(.enveloped(envelope))
  }
}

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

extension Endpoint {
  /// Makes rejections of an expected shape values instead of errors.
  ///
  /// Declared once, at the endpoint:
  ///
  /// <!-- sample: endpoint-outcome -->
  /// ```swift
  /// struct Account: Codable, Sendable { var email: String }
  /// struct FormErrors: Decodable, Sendable { let fields: [String: String] }
  ///
  /// extension Endpoint where Self == Request<Outcome<Account, FormErrors>> {
  ///   static func signUp(_ account: Account) -> Self {
  ///     Request<Account>.post("/accounts", content: .json(account)).outcome()
  ///   }
  /// }
  /// ```
  ///
  /// A call then returns ``Outcome/accepted(_:)`` or ``Outcome/rejected(_:)``. Everything else is still thrown, also
  /// rejections whose content is not a `Rejected`.
  ///
  /// - Parameter type: the type of the content (body) of a rejection. Default: inferred.
  public func outcome<Rejected: Decodable & Sendable>(
    rejectedAs type: Rejected.Type = Rejected.self
  ) -> Request<Outcome<Value, Rejected>> {
    let request = rejecting(as: type)
    return request.mapped(by: request.mapping.outcome(rejectedAs: type))
  }
}
