// Each modifier returns a `Request`, so that modifiers can be chained in any order on every style of endpoint.

extension Endpoint {
  /// Returns the endpoint's request with a change applied. All modifiers are built on it.
  package func modified(_ change: (inout Request<Value>) -> Void) -> Request<Value> {
    var request = resolvedRequest
    change(&request)
    return request
  }

  /// Sets the id of calls and the policy for the case that a running call has the same id.
  public func id(_ id: CallID, onDuplicate duplicates: DuplicatePolicy) -> Request<Value> {
    modified {
      $0.options.id = id
      $0.options.duplicatePolicy = duplicates
    }
  }

  /// Sets the id of calls. A newer call with the same id supersedes an earlier call, whose result then never reaches
  /// the app.
  public func latestWins(_ id: CallID) -> Request<Value> {
    self.id(id, onDuplicate: .cancelPrevious)
  }

  /// Adds tags.
  public func tag(_ tags: Tag...) -> Request<Value> {
    modified { $0.options.tags += tags }
  }

  /// Limits the duration of the whole call: waiting, all attempts and the transfer of content (body).
  ///
  /// Without this modifier the client's default applies. The default does not count time during which content is
  /// transferred. With a limit of more than 30 seconds, or no limit, attempts are unlimited too unless `attemptTimeout`
  /// is set, so that a long poll is sent once.
  ///
  /// - Parameter timeout: the maximum duration. If it is zero or negative, nothing is sent. `nil` means no limit.
  public func timeout(_ timeout: Duration?) -> Request<Value> {
    modified { $0.options.timeout = timeout ?? .seconds(Int64.max) }
  }

  /// Limits the content of the response. A call with larger content fails with the code
  /// ``CallError/Code/contentTooLarge``.
  ///
  /// - Parameter bytes: the maximum number of bytes.
  public func contentLimit(_ bytes: Int) -> Request<Value> {
    modified { $0.options.contentLimit = bytes }
  }

  /// Reports the progress of sending the content.
  ///
  /// The transport counts bytes that have left the system's buffers, as far as the system reports them. The last
  /// progress is complete if the call succeeds.
  public func uploadProgress(_ progress: ProgressReporter) -> Request<Value> {
    modified { $0.options.uploadProgress = progress }
  }

  /// Reports the progress of receiving the response's content. The total is unknown if the server does not announce it
  /// or compresses the content.
  public func downloadProgress(_ progress: ProgressReporter) -> Request<Value> {
    modified { $0.options.downloadProgress = progress }
  }

  /// Sets a field (header). Replaces a field with the same name, ignoring case.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - value: the value.
  ///   - isSensitive: whether the value is a secret, see ``RawField/isSensitive``. Default: `false`.
  public func field(_ name: String, _ value: String, isSensitive: Bool = false) -> Request<Value> {
    modified { $0.fields.replace(with: RawField(name, value, isSensitive: isSensitive)) }
  }

  /// Withholds the content until the server requests it (`Expect: 100-continue`, RFC 9110 §10.1.1).
  ///
  /// Use this modifier for large content that a server may reject because of the fields alone, for example because of
  /// its length or missing credentials. The transport waits at most one second for the server, and then sends the
  /// content. Content of up to 64 KiB is sent with the fields.
  public func expectsContinue() -> Request<Value> {
    field("Expect", "100-continue")
  }

  /// Appends query parameters.
  public func query(_ query: Query) -> Request<Value> {
    modified { $0.query.append(query) }
  }

  /// Sets the content to send.
  public func content(_ content: RequestContent) -> Request<Value> {
    modified { $0.content = content }
  }

  /// Sets the JSON coding.
  public func json(_ json: JSONCoding) -> Request<Value> {
    coding { $0.json = json }
  }

  /// Changes the coders and styles, for example `coding { $0.query = QueryStyle(arrays: .brackets) }`.
  public func coding(_ change: (inout CodingOptions) -> Void) -> Request<Value> {
    modified { request in
      var coding = request.options.coding ?? CodingOptions()
      change(&coding)
      request.options.coding = coding
    }
  }

  /// Sets the statuses that count as success.
  public func accepting(_ acceptance: StatusAcceptance) -> Request<Value> {
    modified { $0.acceptance = acceptance }
  }

  /// Decodes the JSON content of a rejection as a type of the endpoint, for ``CallError/rejection(as:)``.
  public func rejecting<Rejected: Decodable & Sendable>(as type: Rejected.Type) -> Request<Value> {
    modified { $0.details.rejectionDecoder = { try? $0.decode(Rejected.self) } }
  }

  /// Sets the mapping of an accepted response to the value, which may have another type.
  public func mapped<Other: Sendable>(by mapping: ResponseMapping<Other>) -> Request<Other> {
    Request<Other>(of: resolvedRequest, mapping: mapping)
  }

  /// Reads the response with a custom parser, which does not need to use `Codable`.
  public func parsed<Parser: ContentParser>(by parser: Parser) -> Request<Parser.Value> {
    mapped(by: .parsed(by: parser))
  }

  /// Sets the value of a setting for a middleware or the transport.
  public func setting<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> Request<Value> {
    modified { $0.options.values[key] = value }
  }
}

extension Endpoint where Value == Content {
  /// Decodes the response as `type`, as `send(_:as:)` does, for an endpoint that leaves the type to the call.
  ///
  /// <!-- sample: decoded -->
  /// ```swift
  /// enum MovieAPI: Endpoint {
  ///   case popular(page: Int)
  ///   var request: Request<Content> {
  ///     switch self {
  ///     case .popular(let page): .get("/movie/popular", query: ["page": page])
  ///     }
  ///   }
  /// }
  /// let first = try await api.send(MovieAPI.popular(page: 1).decoded(as: MoviePage.self))
  /// ```
  ///
  /// - Parameter type: the type of the value. Default: inferred.
  public func decoded<Decoded: Decodable & Sendable>(as type: Decoded.Type = Decoded.self) -> Request<Decoded> {
    mapped(by: .decoded)
  }
}

extension Endpoint where Value: Decodable {
  /// Decodes the part of the JSON response at a key path such as `data.items`.
  public func at(_ keyPath: String) -> Request<Value> {
    mapped(by: .decoded(at: keyPath))
  }

  /// Decodes the response from an envelope such as `{code, message, data}`.
  public func enveloped(_ envelope: EnvelopeFormat) -> Request<Value> {
    mapped(by: .enveloped(envelope))
  }
}

extension Endpoint {
  /// Coalesces equal calls in flight: a call that equals a running call shares its exchange instead of starting another
  /// exchange.
  ///
  /// Calls are equal if they have the same method, URL, fields (except fields for tracing and request ids), content,
  /// environment, principal (``CallContext/principal``), tags and content limit, and the same value for every setting
  /// that affects coalescing (``ContextKey/affectsCoalescing``). Only calls with a safe method are coalesced: GET,
  /// HEAD, OPTIONS and QUERY (RFC 9110 §9.2.1, RFC 10008). Streamed responses and content from a file or a stream are
  /// never shared.
  ///
  /// Each call keeps its own deadline, decodes the response itself and can be cancelled separately. The shared exchange
  /// is cancelled when its last waiter leaves, and runs with the highest priority of its waiters. Retries are
  /// determined by the call that started the exchange. A call does not join a response that is marked `no-store` (RFC
  /// 9111 §5.2.2.5) or exceeds ``CoalescingLimits/sharedBytes``; during the delay after a failed attempt calls may join
  /// again.
  ///
  /// The shared exchange has no deadline. Retry and rate limiting therefore do not check whether a delay ends in time:
  /// a call that shares an exchange waits until its own deadline, where a call on its own would fail immediately. A
  /// circuit breaker does not count an exchange that all waiters left at their deadlines as a failure.
  ///
  /// This modifier has no effect on a call with an id and ``DuplicatePolicy/coalesce``. Such a call joins only calls
  /// with the same id and message.
  ///
  /// - Parameter isCoalesced: whether calls are coalesced. Default: `true`. Without this modifier
  ///   ``ClientSettings/coalesces`` applies.
  public func coalesced(_ isCoalesced: Bool = true) -> Request<Value> {
    modified { $0.options.coalesces = isCoalesced }
  }
}

extension Endpoint {
  /// Returns rejections of an expected type as values instead of throwing them.
  ///
  /// Declare the type once, at the endpoint:
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
  /// A call then returns ``Outcome/accepted(_:)`` or ``Outcome/rejected(_:)``. All other failures are still thrown,
  /// including rejections whose content cannot be decoded as `Rejected`.
  ///
  /// - Parameter type: the type of the content (body) of a rejection. Default: inferred.
  public func outcome<Rejected: Decodable & Sendable>(
    rejectedAs type: Rejected.Type = Rejected.self
  ) -> Request<Outcome<Value, Rejected>> {
    let request = rejecting(as: type)
    return request.mapped(by: request.mapping.outcome(rejectedAs: type))
  }
}
