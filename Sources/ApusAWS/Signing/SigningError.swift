/// The reason why a request cannot be signed.
public enum SigningError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The request names no host.
  case missingHost
  /// The content is a file or a stream, whose digest is not known.
  case contentNotInMemory
  /// The length of content that is sent in chunks is not known.
  case unknownLength
  /// The content would neither be signed nor protected by TLS.
  case unsignedWithoutTLS
  /// A presigned URL is valid for at least a second and at most a week.
  case invalidLifetime(seconds: Int)
  /// The access key ID or the session token contains characters that a field cannot contain.
  case invalidCredentials

  /// The reason as a sentence.
  public var description: String {
    switch self {
    case .missingHost: "The request names no host, so it cannot be signed."
    case .contentNotInMemory: "The content is not in memory; sign it with its digest, or without it over https."
    case .unknownLength: "The length of the content is not known, so it cannot be sent in signed chunks."
    case .unsignedWithoutTLS: "Content that is not signed may be sent over https only."
    case .invalidLifetime(let seconds):
      "A presigned URL is valid for 1 to 604800 seconds, not for \(seconds)."
    case .invalidCredentials:
      "The access key ID or the session token contains characters that are not allowed in a field."
    }
  }
}
