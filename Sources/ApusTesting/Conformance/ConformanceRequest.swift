public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request as a server received it.
public struct ConformanceRequest: Sendable {
  /// The method's token, exactly.
  public var method: String
  /// Path and query, exactly.
  public var target: String
  /// The field lines in order.
  public var fields: HTTPFields
  /// The content without its framing.
  public var content: Data
  /// A number that requests on one connection share.
  public var connection: Int

  /// Makes a request of what was received.
  public init(method: String, target: String, fields: HTTPFields, content: Data, connection: Int) {
    self.method = method
    self.target = target
    self.fields = fields
    self.content = content
    self.connection = connection
  }

  /// The target up to `?`.
  public var path: String { String(target.prefix { $0 != "?" }) }
}
