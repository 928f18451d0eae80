/// The values of a part that the completion of an upload requires: the entity tag and the checksum.
struct S3PartReceipt: Hashable, Sendable {
  let entityTag: String
  let checksum: String?

  init(entityTag: String, checksum: String?) {
    (self.entityTag, self.checksum) = (entityTag, checksum)
  }

  /// Parses ``text``.
  init?(_ text: String) {
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let tag = parts.first, !tag.isEmpty else { return nil }
    self.init(entityTag: String(tag), checksum: parts.count > 1 ? String(parts[1]) : nil)
  }

  /// The receipt as a string, for the parts of an upload.
  var text: String { ([entityTag] + (checksum.map { [$0] } ?? [])).joined(separator: "\n") }
}
