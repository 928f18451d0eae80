public import HTTPTypes

// Factory methods for responses that are streams, in the style of the methods for decoded responses. They are
// disfavored, so that the type of the value determines the method.

extension Endpoint {
  /// Creates a GET request (RFC 9110 §9.3.1). The response is a stream.
  @_disfavoredOverload
  public static func get<V: StreamedValue>(_ path: RequestPath, query: Query = [:]) -> Self
  where Self == Request<V> {
    .streamed(.get, path, query)
  }

  /// Creates a POST request (RFC 9110 §9.3.3). The response is a stream.
  ///
  /// An interrupted event stream is reconnected only if it has a last event ID, or if the endpoint is marked as
  /// idempotent.
  @_disfavoredOverload
  public static func post<V: StreamedValue>(
    _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    .streamed(.post, path, query, content)
  }

  /// Creates a QUERY request (RFC 10008), which is safe and idempotent like GET and has content (body). The response is
  /// a stream.
  @_disfavoredOverload
  public static func query<V: StreamedValue>(
    _ path: RequestPath, query: Query = [:], content: RequestContent
  ) -> Self where Self == Request<V> {
    .streamed(.query, path, query, content)
  }

  /// Creates a request with any method. The response is a stream.
  @_disfavoredOverload
  public static func method<V: StreamedValue>(
    _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], content: RequestContent = .empty
  ) -> Self where Self == Request<V> {
    .streamed(method, path, query, content)
  }
}

extension Request where Value: StreamedValue {
  fileprivate static func streamed(
    _ method: HTTPRequest.Method, _ path: RequestPath, _ query: Query, _ content: RequestContent = .empty
  ) -> Self {
    let format = Value._format
    return Request(
      method: method, path: path, query: query, content: content,
      mapping: format.mapping(StreamOptions(for: format.kind)))
  }
}
