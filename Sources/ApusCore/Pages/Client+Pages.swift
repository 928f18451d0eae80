extension Client {
  /// Returns the pages of a list whose responses name the URL of the next page.
  ///
  /// - Parameters:
  ///   - endpoint: the endpoint of the first page.
  ///   - next: the location of the URL: `.link` or `.url { … }`.
  /// - Returns: a sequence. Nothing is sent before a loop requests the first page.
  public func pages<E: Endpoint>(of endpoint: E, next: NextPageURL<E.Value>) -> PageSequence<E.Value> {
    PageSequence(next.source(from: endpoint.resolvedRequest), by: self)
  }

  /// Returns the pages of a list whose endpoint takes a cursor, a page number or an offset.
  ///
  /// - Parameters:
  ///   - endpoint: returns the endpoint for a cursor, a page number or an offset.
  ///   - next: the parameter of the next page: ``NextPageParameter/cursor(_:)``,
  ///     ``NextPageParameter/number(from:while:)`` or ``NextPageParameter/offset(from:by:while:)``.
  /// - Returns: a sequence. Nothing is sent before a loop requests the first page.
  public func pages<Parameter, E: Endpoint>(
    of endpoint: @escaping @Sendable (Parameter) -> E, next: NextPageParameter<Parameter, E.Value>
  ) -> PageSequence<E.Value> {
    PageSequence(next.source { endpoint($0).resolvedRequest }, by: self)
  }
}
