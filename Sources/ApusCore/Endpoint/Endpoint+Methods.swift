public import HTTPTypes

// Declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected as well as on `Request`.
// Here for answers that are decoded; two more files have the same for answers without a value, and left as they are.

extension Endpoint {
  /// GET (RFC 9110 §9.3.1), the answer decoded from JSON, or taken as it is for `Data` and `String`.
  public static func get<V: Decodable & Sendable>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    Request(method: .get, path: path, query: query, mapping: .decoded)
  }

  /// POST (RFC 9110 §9.3.3), the answer decoded.
  public static func post<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .post, path: path, query: query, content: content, mapping: .decoded)
  }

  /// PUT (RFC 9110 §9.3.4), the answer decoded.
  public static func put<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .put, path: path, query: query, content: content, mapping: .decoded)
  }

  /// PATCH (RFC 5789), the answer decoded.
  public static func patch<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .decoded)
  }

  /// DELETE (RFC 9110 §9.3.5), the answer decoded.
  public static func delete<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .decoded)
  }

  /// QUERY (RFC 10008): safe and idempotent like GET, with content; the answer decoded.
  public static func query<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    Request(method: .query, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Any method, the answer decoded.
  public static func method<V: Decodable & Sendable>(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: method, path: path, query: query, content: content, mapping: .decoded)
  }
}

// Declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected as well as on `Request`.
// Here for answers whose content is not wanted. What GET and QUERY fetch is wanted: a call of theirs that names no type
// is a mistake, which must not compile as one without a value.

extension Endpoint {
  /// GET without a type for its value does not compile: what it fetches would be dropped.
  @available(
    *, unavailable,
    message: """
      name the type of the value, as in `let user: User = …` or `Request<User>.get(…)`; to ignore the content, write \
      `.method(.get, …)`
      """
  )
  public static func get(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .get, path: path, query: query, mapping: .empty)
  }

  /// QUERY without a type for its value does not compile: what it fetches would be dropped.
  @available(
    *, unavailable,
    message: """
      name the type of the value, as in `let users: [User] = …` or `Request<[User]>.query(…)`; to ignore the content, \
      write `.method(.query, …)`
      """
  )
  public static func query(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<Void> {
    Request(method: .query, path: path, query: query, content: content, mapping: .empty)
  }

  /// HEAD (RFC 9110 §9.3.2): the head of the answer only, which `response(to:)` gives.
  public static func head(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .head, path: path, query: query, mapping: .empty)
  }

  /// POST (RFC 9110 §9.3.3), the content of the answer ignored.
  public static func post(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .post, path: path, query: query, content: content, mapping: .empty)
  }

  /// PUT (RFC 9110 §9.3.4), the content of the answer ignored.
  public static func put(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .put, path: path, query: query, content: content, mapping: .empty)
  }

  /// PATCH (RFC 5789), the content of the answer ignored.
  public static func patch(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .empty)
  }

  /// DELETE (RFC 9110 §9.3.5), the content of the answer ignored.
  public static func delete(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .empty)
  }

  /// OPTIONS (RFC 9110 §9.3.7), the content of the answer ignored.
  public static func options(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .options, path: path, query: query, mapping: .empty)
  }

  /// Any method, the content of the answer ignored.
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: method, path: path, query: query, content: content, mapping: .empty)
  }
}

// Declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected as well as on `Request`.
// Here for answers that the call decodes as the type it names: the enum style. Disfavored, so that a
// call whose result nobody takes means the one without a value.

/// A value that is the content itself, not decoded: ``Content`` and no other type.
public protocol UndecodedValue: Sendable {
  /// Reads the content.
  static var undecoded: ResponseMapping<Self> { get }
}

extension Content: UndecodedValue {
  /// The content as it is.
  public static var undecoded: ResponseMapping<Content> { .content }
}

extension Endpoint {
  // GET and QUERY are generic, so that `Content` is never inferred: where nothing names a type, they do not compile.

  /// GET (RFC 9110 §9.3.1), the answer left as it is.
  @_disfavoredOverload
  public static func get<V: UndecodedValue>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    Request(method: .get, path: path, query: query, mapping: V.undecoded)
  }

  /// POST (RFC 9110 §9.3.3), the answer left as it is.
  @_disfavoredOverload
  public static func post(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .post, path: path, query: query, content: content, mapping: .content)
  }

  /// PUT (RFC 9110 §9.3.4), the answer left as it is.
  @_disfavoredOverload
  public static func put(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .put, path: path, query: query, content: content, mapping: .content)
  }

  /// PATCH (RFC 5789), the answer left as it is.
  @_disfavoredOverload
  public static func patch(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .content)
  }

  /// DELETE (RFC 9110 §9.3.5), the answer left as it is.
  @_disfavoredOverload
  public static func delete(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .content)
  }

  /// QUERY (RFC 10008): safe and idempotent like GET, with content; the answer left as it is.
  @_disfavoredOverload
  public static func query<V: UndecodedValue>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    Request(method: .query, path: path, query: query, content: content, mapping: V.undecoded)
  }

  /// Any method, the answer left as it is.
  @_disfavoredOverload
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: method, path: path, query: query, content: content, mapping: .content)
  }
}
