/// The reason why a request cannot be signed.
public struct SigningError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason as a sentence.
  public let description: String

  private init(_ description: String) {
    self.description = description
  }

  /// The request has no host.
  package static let missingHost = SigningError("The request names no host, so it cannot be signed.")
  /// The content is a file or a stream, so its digest is not known.
  package static let contentNotInMemory = SigningError(
    "The content is not in memory; sign it with its digest, or without it over https.")
  /// The length of content that is sent in chunks is not known.
  package static let unknownLength = SigningError(
    "The length of the content is not known, so it cannot be sent in signed chunks.")
  /// The content would be protected neither by a signature nor by TLS.
  package static let unsignedWithoutTLS = SigningError("Content that is not signed may be sent over https only.")
  /// The access key ID or the session token contains characters that a field cannot contain.
  package static let invalidCredentials = SigningError(
    "The access key ID or the session token contains characters that are not allowed in a field.")

  /// Returns the error of a presigned URL with a lifetime of less than a second or more than a week.
  package static func invalidLifetime(seconds: Int) -> SigningError {
    SigningError("A presigned URL is valid for 1 to 604800 seconds, not for \(seconds).")
  }
}
