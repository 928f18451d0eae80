public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where a response's content comes from while it arrives: implemented by transports.
public protocol ContentSource: Sendable {
  /// The next piece, never empty; `nil` once the content is complete.
  ///
  /// Called by one reader at a time. A task that is cancelled while it waits gets `CancellationError`.
  ///
  /// - Throws: ``TransportError`` when the content breaks off.
  func next() async throws -> Data?

  /// The fields that came after the content (RFC 9110 §6.5); asked for once ``next()`` gave `nil`. Default: none, for
  /// transports that cannot see them.
  var trailers: HTTPFields { get }

  /// Gives the content up: drains or closes the exchange. May be called at any time, more than once;
  /// a waiting ``next()`` then throws `CancellationError`.
  func cancel()
}

extension ContentSource {
  /// None.
  public var trailers: HTTPFields { [:] }
}
