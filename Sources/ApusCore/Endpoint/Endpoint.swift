import HTTPTypes

/// A typed operation of a server: what an app calls.
///
/// Conform a struct or an enum to it, or add a factory to `Endpoint where Self == Request<Value>`, which
/// makes the operation appear after `api.send(.`:
///
/// ```swift
/// struct GetUser: Endpoint {
///   let id: Int
///   var request: Request<User> { .get("/users/\(id)") }
/// }
/// ```
public protocol Endpoint<Value>: Sendable {
  /// What a successful call gives; `Void` when nothing.
  associatedtype Value: Sendable

  /// Describes the request. Called once for each call, on the caller's side, so it should only describe:
  /// content is encoded later, off the caller's actor.
  var request: Request<Value> { get throws }
}

extension Endpoint {
  /// The request with this endpoint's type noted; a description that threw becomes a request that fails.
  var described: Request<Value> {
    do {
      var request = try self.request
      if Self.self != Request<Value>.self, request.box.description.endpointType == nil {
        request.details.endpointType = Self.self
      }
      return request
    } catch {
      var request = Request<Value>(method: .get, path: "/", mapping: .unavailable)
      request.details.endpointType = Self.self
      request.details.failure = CallFault(.invalidRequest, "the endpoint could not be described", underlying: error)
      return request
    }
  }
}
