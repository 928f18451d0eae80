public import HTTPTypes

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
