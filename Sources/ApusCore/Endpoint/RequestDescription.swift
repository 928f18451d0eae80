import HTTPTypes

/// Everything about a request but the type of its value: what the path of a call works with.
struct RequestDescription: Sendable {
  var method: HTTPRequest.Method
  var path: RequestPath
  var query: Query
  var fields: [RawField] = []
  var content: RequestContent
  var accept: AcceptedType
  var options = CallOptions()
  var acceptance = StatusAcceptance.successful
  /// How a refused answer's content becomes a value of the endpoint's own type; `nil`: not at all.
  var rejectionDecoder: (@Sendable (Content) -> (any Sendable)?)?
  /// The endpoint's type; `nil` for requests written in place.
  var endpointType: (any Endpoint.Type)?
  /// What was wrong with the description already.
  var failure: CallFault?
}

/// Holds a description, so that passing a request on costs one retain however much it describes.
final class RequestBox: Sendable {
  let description: RequestDescription

  init(_ description: RequestDescription) {
    self.description = description
  }
}
