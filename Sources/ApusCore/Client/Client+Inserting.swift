extension Client {
  /// Returns a client with a further middleware. It shares middlewares and transport with this client, and has its own
  /// list of calls.
  ///
  /// - Parameters:
  ///   - middleware: the middleware.
  ///   - position: its position in the pipeline.
  package func inserting(_ middleware: any Middleware, _ position: Pipeline.Position) -> Client {
    var pipeline = pipeline.order
    pipeline.insert(middleware, position)
    return Client(
      environment: environment, pipeline: pipeline, transport: self.pipeline.transport, settings: host.settings)
  }
}
