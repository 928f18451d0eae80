/// Reads `Authorization: Bearer …` (RFC 6750, section 2.1).
enum BearerToken {
  static func token(in field: String) -> String? {
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }
}
