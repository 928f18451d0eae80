public import HTTPTypes

/// A typed operation of a server, which an app calls with a client's `send`.
///
/// Conform a struct or an enum to `Endpoint`, or add a factory method to `Endpoint where Self == Request<Value>`,
/// which makes the operation available as `api.send(.name)`:
///
/// ```swift
/// struct GetUser: Endpoint {
///   let id: Int
///   var request: Request<User> { .get("/users/\(id)") }
/// }
/// ```
public protocol Endpoint<Value>: Sendable {
  /// The result of a successful call. `Void` if there is none.
  associatedtype Value: Sendable

  /// The request that a call sends.
  ///
  /// The client reads this property once for each call, in the caller's context, so it should be cheap. Content
  /// (body) is encoded later, off the caller's actor.
  ///
  /// - Throws: any error. The call then fails with the code ``CallError/Code/invalidRequest``.
  var request: Request<Value> { get throws }
}

extension Endpoint {
  /// The request with this endpoint's type. If ``request`` throws, the result is a request whose calls fail.
  package var resolvedRequest: Request<Value> {
    do {
      var request = try self.request
      if Self.self != Request<Value>.self, request.box.description.endpointType == nil {
        request.details.endpointType = Self.self
      }
      return request
    } catch {
      var request = Request<Value>(method: .get, path: "/", mapping: .unavailable)
      request.details.endpointType = Self.self
      request.details.failure = CallFault(.invalidRequest, "the endpoint could not make its request", underlying: error)
      return request
    }
  }
}

// The factory methods are declared on `Endpoint`, so that `.get(…)` works wherever an endpoint is expected. There are
// two sets of methods: for responses that are decoded, and for responses whose content is ignored.

extension Endpoint {
  /// Creates a GET request (RFC 9110 §9.3.1). The response is decoded from JSON; `Data` and `String` get the bytes and
  /// the text, and ``Content`` gets the undecoded content.
  public static func get<V: Decodable & Sendable>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    Request(method: .get, path: path, query: query, mapping: .decoded)
  }

  /// Creates a POST request (RFC 9110 §9.3.3). The response is decoded.
  public static func post<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .post, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Creates a PUT request (RFC 9110 §9.3.4). The response is decoded.
  public static func put<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .put, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Creates a PATCH request (RFC 5789). The response is decoded.
  public static func patch<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Creates a DELETE request (RFC 9110 §9.3.5). The response is decoded.
  public static func delete<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Creates a QUERY request (RFC 10008), which is safe and idempotent like GET and has content (body). The response is
  /// decoded.
  public static func query<V: Decodable & Sendable>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    Request(method: .query, path: path, query: query, content: content, mapping: .decoded)
  }

  /// Creates a request with any method. The response is decoded.
  public static func method<V: Decodable & Sendable>(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    Request(method: method, path: path, query: query, content: content, mapping: .decoded)
  }
}

// Responses whose content is ignored. A GET or QUERY whose content is ignored is usually a missing type annotation, so
// GET and QUERY without a value type do not compile.

extension Endpoint {
  /// GET without a value type does not compile, because the content of the response would be lost.
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

  /// QUERY without a value type does not compile, because the content of the response would be lost.
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

  /// Creates a HEAD request (RFC 9110 §9.3.2). The response head is available from `response(to:)`.
  public static func head(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .head, path: path, query: query, mapping: .empty)
  }

  /// Creates a POST request (RFC 9110 §9.3.3). The content of the response is ignored.
  public static func post(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .post, path: path, query: query, content: content, mapping: .empty)
  }

  /// Creates a PUT request (RFC 9110 §9.3.4). The content of the response is ignored.
  public static func put(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .put, path: path, query: query, content: content, mapping: .empty)
  }

  /// Creates a PATCH request (RFC 5789). The content of the response is ignored.
  public static func patch(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .patch, path: path, query: query, content: content, mapping: .empty)
  }

  /// Creates a DELETE request (RFC 9110 §9.3.5). The content of the response is ignored.
  public static func delete(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: .delete, path: path, query: query, content: content, mapping: .empty)
  }

  /// Creates an OPTIONS request (RFC 9110 §9.3.7). The content of the response is ignored.
  public static func options(_ path: RequestPath, query: Query = [:]) -> Self where Self == Request<Void> {
    Request(method: .options, path: path, query: query, mapping: .empty)
  }

  /// Creates a request with any method. The content of the response is ignored.
  public static func method(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<Void> {
    Request(method: method, path: path, query: query, content: content, mapping: .empty)
  }
}
