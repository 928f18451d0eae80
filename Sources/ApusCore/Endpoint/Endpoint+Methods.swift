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
