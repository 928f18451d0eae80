public import ApusJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A machine-readable problem as servers report it (RFC 9457).
public struct Problem: Sendable, Hashable, Decodable {
  /// The problem's kind, a URI reference; `about:blank` when the server gives none (§3.1.1).
  public let type: String
  /// A short summary of the kind.
  public let title: String?
  /// The status that the server meant; the response's own status counts.
  public let status: Int?
  /// What went wrong this time.
  public let detail: String?
  /// Identifies this occurrence, a URI reference.
  public let instance: String?
  /// All other members.
  public let extensions: [String: JSONValue]

  /// Decodes a problem; members of a wrong type are ignored, as §3.1 asks.
  public init(from decoder: any Decoder) throws {
    self.init(members: try [String: JSONValue](from: decoder))
  }

  init(members: [String: JSONValue]) {
    type = members["type"]?.string ?? "about:blank"
    title = members["title"]?.string
    status = members["status"]?.number?.int
    detail = members["detail"]?.string
    instance = members["instance"]?.string
    var extensions = members
    for name in ["type", "title", "status", "detail", "instance"] { extensions[name] = nil }
    self.extensions = extensions
  }

  /// Decodes a member that the problem's kind defines.
  public func member<Value: Decodable>(_ name: String, as type: Value.Type) -> Value? {
    guard let value = extensions[name] else { return nil }
    return try? JSONCoding.standard.decode(type, from: Data(value.utf8()))
  }
}
