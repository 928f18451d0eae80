public import HTTPTypes

// Declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected as well as on `Request`.
// Here for answers that the call decodes as the type it names: the enum style. Disfavored, so that a
// call whose result nobody takes means the one without a value.

extension Endpoint {
  /// GET (RFC 9110 §9.3.1), the answer left as it is.
  @_disfavoredOverload
  public static func get(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<Content> {
    Request(method: .get, path: path, query: query, mapping: .content)
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
  public static func query(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<Content> {
    Request(method: .query, path: path, query: query, content: content, mapping: .content)
  }

  /// Any method, the answer left as it is.
  @_disfavoredOverload
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Content> {
    Request(method: method, path: path, query: query, content: content, mapping: .content)
  }
}
