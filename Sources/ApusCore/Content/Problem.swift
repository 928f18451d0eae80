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
    let container = try decoder.container(keyedBy: AnyKey.self)
    func text(_ name: String) -> String? { try? container.decodeIfPresent(String.self, forKey: AnyKey(name)) }
    type = text("type") ?? "about:blank"
    title = text("title")
    status = try? container.decodeIfPresent(Int.self, forKey: AnyKey("status"))
    detail = text("detail")
    instance = text("instance")
    let known: Set = ["type", "title", "status", "detail", "instance"]
    var extensions: [String: JSONValue] = [:]
    for key in container.allKeys where !known.contains(key.stringValue) {
      extensions[key.stringValue] = try? container.decode(JSONValue.self, forKey: key)
    }
    self.extensions = extensions
  }

  /// Decodes a member that the problem's kind defines.
  public func member<Value: Decodable>(_ name: String, as type: Value.Type) -> Value? {
    guard let value = extensions[name], let data = try? JSONCoding.standard.encoder.encode(value) else { return nil }
    return try? JSONCoding.standard.decoder.decode(type, from: data)
  }
}
