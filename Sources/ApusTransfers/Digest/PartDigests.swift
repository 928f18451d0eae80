/// The digests of the content (body) of a response that contains a part of a file (RFC 9530 §2).
struct PartDigests {
  let stream: DigestStream
  private let stated: [FileDigest]

  init(_ stated: [FileDigest]) {
    self.stated = stated
    stream = DigestStream(stated.map(\.algorithm))
  }

  /// Whether the content has all digests that the server stated.
  var isMatch: Bool {
    stated.allSatisfy { stream.matches($0) == true }
  }
}
