public import HTTPTypes

// The factory methods are declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected. There are
// three sets: responses that are decoded, responses whose content is ignored, and responses that are not decoded.

extension Endpoint {
  /// GET (RFC 9110 §9.3.1). The response is decoded from JSON; `Data` and `String` get the bytes and the text.
  public static func get<V: Decodable & Sendable>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    Request(method: .get, path: path, query: query, mapping: .decoded)
  }

  /// POST (RFC 9110 §9.3.3). The response is decoded.
  public static func post<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .post, path: path, query: query, content: content, mapping: .decoded)
  }

  /// PUT (RFC 9110 §9.3.4). The response is decoded.
  public static func put<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .put, path: path, query: query, content: content, mapping: .decoded)
  }

  /// PATCH (RFC 5789). The response is decoded.
  public static func patch<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .decoded)
  }

  /// DELETE (RFC 9110 §9.3.5). The response is decoded.
  public static func delete<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .decoded)
  }

  /// QUERY (RFC 10008), safe and idempotent like GET, with content (body). The response is decoded.
  public static func query<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    Request(method: .query, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Any method. The response is decoded.
  public static func method<V: Decodable & Sendable>(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: method, path: path, query: query, content: content, mapping: .decoded)
  }
}

// Responses whose content is ignored. A GET or QUERY whose content is ignored is usually a missing type annotation, so
// these two do not compile.

extension Endpoint {
  /// GET without a type does not compile, because its content would be lost.
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

  /// QUERY without a type does not compile, because its content would be lost.
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

  /// HEAD (RFC 9110 §9.3.2). The response head is available from `response(to:)`.
  public static func head(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .head, path: path, query: query, mapping: .empty)
  }

  /// POST (RFC 9110 §9.3.3). The content of the response is ignored.
  public static func post(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .post, path: path, query: query, content: content, mapping: .empty)
  }

  /// PUT (RFC 9110 §9.3.4). The content of the response is ignored.
  public static func put(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .put, path: path, query: query, content: content, mapping: .empty)
  }

  /// PATCH (RFC 5789). The content of the response is ignored.
  public static func patch(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .empty)
  }

  /// DELETE (RFC 9110 §9.3.5). The content of the response is ignored.
  public static func delete(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .empty)
  }

  /// OPTIONS (RFC 9110 §9.3.7). The content of the response is ignored.
  public static func options(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .options, path: path, query: query, mapping: .empty)
  }

  /// Any method. The content of the response is ignored.
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: method, path: path, query: query, content: content, mapping: .empty)
  }
}

// Responses that are not decoded, for the enum style, where the call names the type. Disfavored, so that a call whose
// result is unused selects the factory method without a value.

/// A type whose value is the undecoded content of a response. ``Content`` is the only conforming type.
public protocol UndecodedValue: Sendable {
  /// A mapping that returns the content.
  static var undecoded: ResponseMapping<Self> { get }
}

extension Content: UndecodedValue {
  /// A mapping that returns the content.
  public static var undecoded: ResponseMapping<Content> { .content }
}

extension Endpoint {
  // GET and QUERY are generic, so that `Content` is never inferred: without a type annotation they do not compile.

  /// GET (RFC 9110 §9.3.1). The response is not decoded.
  @_disfavoredOverload
  public static func get<V: UndecodedValue>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    Request(method: .get, path: path, query: query, mapping: V.undecoded)
  }

  /// POST (RFC 9110 §9.3.3). The response is not decoded.
  @_disfavoredOverload
  public static func post(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .post, path: path, query: query, content: content, mapping: .content)
  }

  /// PUT (RFC 9110 §9.3.4). The response is not decoded.
  @_disfavoredOverload
  public static func put(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .put, path: path, query: query, content: content, mapping: .content)
  }

  /// PATCH (RFC 5789). The response is not decoded.
  @_disfavoredOverload
  public static func patch(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .content)
  }

  /// DELETE (RFC 9110 §9.3.5). The response is not decoded.
  @_disfavoredOverload
  public static func delete(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .content)
  }

  /// QUERY (RFC 10008), safe and idempotent like GET, with content (body). The response is not decoded.
  @_disfavoredOverload
  public static func query<V: UndecodedValue>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    Request(method: .query, path: path, query: query, content: content, mapping: V.undecoded)
  }

  /// Any method. The response is not decoded.
  @_disfavoredOverload
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: method, path: path, query: query, content: content, mapping: .content)
  }
}
