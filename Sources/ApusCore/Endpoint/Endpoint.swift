import HTTPTypes

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
