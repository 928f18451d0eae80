package import ApusCore

/// A middleware that refuses messages to origins that are not allowed, for clients that send requests to untrusted URLs
/// (``RequestPath/url(_:relativeTo:)-(String,_)``).
///
/// It is innermost, so that it checks the origin of every hop of a redirect. The call fails with the code `refused`,
/// and its cause is ``DestinationRefusal/origin``. An address behind an allowed name is checked by the transport
/// (``AddressPolicy``).
package struct AllowedOriginsMiddleware: Middleware {
  private let origins: Set<Origin>

  /// Creates the middleware.
  ///
  /// - Parameter origins: the origins to which messages may be sent, in addition to the origin of the environment's
  ///   base URL.
  package init(_ origins: Set<Origin>) {
    self.origins = origins
  }

  /// Passes on a message to an allowed origin.
  ///
  /// - Throws: ``TransportError`` with ``DestinationRefusal/origin`` for any other origin; nothing is sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let origin = request.origin, origins.contains(origin) || origin == context.environment.baseURL.origin else {
      throw DestinationRefusal.origin.error
    }
    return try await next(request, context: context)
  }
}

extension AllowedOriginsMiddleware: SelfDescribing {
  /// The number of origins.
  package var facts: [Fact] { [.setting("allowed origins besides the base URL's", "\(origins.count)")] }
}
