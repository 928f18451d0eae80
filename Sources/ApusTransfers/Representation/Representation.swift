import ApusCore
import HTTPTypes

/// The properties of a file on a server, as stated by a response.
struct Representation: Hashable, Sendable {
  var validator: Validator?
  /// The length in bytes.
  var total: Int64?
  var mediaType: String?
  /// The digests of the complete file that the server states.
  var digests: [FileDigest] = []
  /// Whether the content (body) has a content coding, so that its bytes differ from the bytes of the file.
  var isCoded = false

  /// Reads the facts from a response with the complete file.
  init(whole head: HTTPResponse) {
    let fields = head.headerFields
    isCoded = Self.isCoded(fields)
    validator = Validator(fields)
    total = fields[.contentLength].flatMap { ContentRange.number($0[...].utf8) }
    mediaType = fields[.contentType].flatMap { $0.utf8.count <= 256 ? $0 : nil }
    digests = DigestField.representation.digests(in: fields)
    let known = Set(digests.map(\.algorithm))
    // The content is the complete file, so the content's digest is the file's digest.
    digests += DigestField.content.digests(in: fields).filter { !known.contains($0.algorithm) }
  }

  init(validator: Validator?, total: Int64?, mediaType: String? = nil, digests: [FileDigest] = []) {
    (self.validator, self.total, self.mediaType, self.digests) = (validator, total, mediaType, digests)
  }

  /// Whether an interrupted transfer can continue: the validator is strong, the length known, and the bytes not coded.
  ///
  /// A response without a length may have been decoded by the transport; ranges of the coded file would not fit its
  /// bytes.
  var isResumable: Bool { validator != nil && total != nil && !isCoded }

  static func isCoded(_ fields: HTTPFields) -> Bool {
    fields.contentCodings.contains { $0 != "identity" }
  }
}
