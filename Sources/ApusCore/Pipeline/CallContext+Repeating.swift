public import HTTPTypes

extension HTTPRequest.Method {
  /// Whether a server that gets a request twice does the same as after one (RFC 9110 §9.2.2, RFC 10008): GET, HEAD,
  /// OPTIONS, TRACE, PUT, DELETE and QUERY.
  public var isIdempotent: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY": true
    default: false
    }
  }
}

/// Whether a call's endpoint declares that a server which gets its request twice does the same as after one; `nil`, the
/// default: as the method says (``HTTPTypes/HTTPRequest/Method/isIdempotent``).
///
/// Everything that repeats a message reads it, transports included, through ``CallContext/isRepeatable(_:)``.
public enum IdempotenceKey: ContextKey {
  /// As the method says.
  public static let defaultValue: Bool? = nil
}

/// The name of the field that holds a call's idempotency key, beside the standard `Idempotency-Key`; `nil`: none.
public enum IdempotencyFieldKey: ContextKey {
  /// No other field than the standard one.
  public static let defaultValue: String? = nil
}

/// What a call has sent in its present attempt, seen from whatever would repeat the attempt with all its hops.
public enum SentMessages: Sendable, Hashable {
  /// Messages that may be sent again, or none.
  case repeatable
  /// The last message may not be sent again, unless its server says that it did nothing.
  case endsUnrepeatable
  /// An earlier hop may not be sent again, whatever the server of the last message says.
  case unrepeatable
}

extension CallContext {
  /// Whether a message of this call may be sent more than once without harm: by its method, unless the endpoint declares
  /// otherwise (``IdempotenceKey``), or because it carries an idempotency key. Whether its content can be sent again is
  /// another question.
  ///
  /// - Parameter head: of the message as it is sent: a redirect may have taken its key away.
  public func isRepeatable(_ head: HTTPRequest) -> Bool {
    (values[IdempotenceKey.self] ?? head.method.isIdempotent) || hasIdempotencyKey(head)
  }

  /// Whether a message carries an idempotency key: in the field `Idempotency-Key`, or in the one that the call names
  /// (``IdempotencyFieldKey``).
  public func hasIdempotencyKey(_ head: HTTPRequest) -> Bool {
    if let name = Self.standardKey, head.headerFields.contains(name) { return true }
    guard let name = values[IdempotencyFieldKey.self].flatMap({ HTTPField.Name($0) }) else { return false }
    return head.headerFields.contains(name)
  }

  /// What the call has sent in its present attempt, redirects included. A message that failed before it was sent, or that
  /// was answered with 401, has had no effect and does not count.
  public var sentMessages: SentMessages { call.snapshot(\.sentMessages) }

  private static let standardKey = HTTPField.Name("Idempotency-Key")
}
