import HTTPTypes

/// A link in a `Link` field (header) (RFC 8288 §3), for example to the next page of a list.
public struct WebLink: Sendable, Hashable {
  /// The target, a URI reference as the server wrote it: absolute or relative to the URL of the request.
  public let target: String
  /// The relation types in lower case, for example `next` (RFC 8288 §3.3).
  public let relations: [String]
  private let parameters: [String: String]

  /// Returns the value of the first parameter with a case-insensitive name such as `title`.
  public func parameter(_ name: String) -> String? {
    parameters[name.lowercased()]
  }

  /// Returns the links of all `Link` fields, see ``WebLinks``.
  static func all(in fields: HTTPFields) -> [WebLink] { WebLinks(in: fields).links }

  init(target: String, parameters: [String: String]) {
    (self.target, self.parameters) = (target, parameters)
    relations =
      parameters["rel"].map { $0.utf8.split(separator: UInt8(ascii: " ")) }
      .map { $0.map { Substring($0).lowercased() } } ?? []
  }
}
