/// The issuers of a server with several tenants: a URL with a placeholder for one path segment.
struct IssuerPattern: Hashable {
  private static let placeholder = "{tenantid}"

  private let start: String
  private let end: String

  /// Reads a pattern.
  ///
  /// - Parameters:
  ///   - text: the pattern.
  ///   - step: the step that needs it.
  init(_ text: String, for step: OAuthError.Step) throws(OAuthError) {
    let parts = text.split(separator: Self.placeholder, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].hasSuffix("/"), parts[1].isEmpty || parts[1].hasPrefix("/"),
      !text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
    else {
      throw OAuthError(step, .invalidMetadata, "the pattern of the issuers has not one segment \(Self.placeholder)")
    }
    (start, end) = (String(parts[0]), String(parts[1]))
    // The text before the placeholder must contain the host.
    _ = try ServerURL(start, for: step, "pattern of the issuers")
  }

  /// Returns the tenant of an issuer; `nil` if the issuer does not match.
  func tenant(in issuer: String) -> String? {
    let (bytes, start, end) = (issuer.utf8, self.start.utf8, self.end.utf8)
    guard bytes.count > start.count + end.count, bytes.starts(with: start),
      bytes.suffix(end.count).elementsEqual(end)
    else { return nil }
    let tenant = bytes.dropFirst(start.count).dropLast(end.count)
    // A tenant must be a plain name: it must contain no delimiter. It must contain no escape, either, because an escape
    // could represent a delimiter.
    let isName = tenant.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#%\\{}".utf8.contains($0) }
    return isName ? String(Substring(tenant)) : nil
  }
}

extension AuthorizationServer {
  /// Returns the issuers of the tenants; `nil` for a server with one tenant.
  func tenants(for step: OAuthError.Step) throws(OAuthError) -> IssuerPattern? {
    guard let issuerPattern else { return nil }
    return try IssuerPattern(issuerPattern, for: step)
  }
}
