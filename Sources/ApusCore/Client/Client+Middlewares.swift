extension Client {
  /// The middlewares that calls pass, outermost first: for extensions of the client that speak to one of them.
  public var middlewares: [any Middleware] { state.pipeline.middlewares }
}
