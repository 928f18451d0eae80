public import HTTPTypes

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
