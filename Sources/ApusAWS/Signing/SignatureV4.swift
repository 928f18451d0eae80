public import ApusCore
import Crypto
import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Signatures of AWS, version 4 (`AWS4-HMAC-SHA256`), for one service in one region.
///
/// A signature covers the method, the target, the fields (headers), the content (body) and the time, so a signed
/// request is valid for a few minutes only and must not be changed afterward.
///
/// ```swift
/// let signer = SignatureV4(region: "eu-central-1", service: "execute-api")
/// let message = try await api.message(for: Request<Content>.get("/films"))
/// let signed = try signer.sign(message, with: credentials, at: Date())
/// ```
public struct SignatureV4: Sendable {
  /// How a service interprets the path of a request.
  public enum PathRules: Sendable, Hashable {
    /// The service signs each path segment as it is sent, so the segment is encoded again for the signature. For all
    /// services except S3.
    ///
    /// - Parameter isNormalized: whether dot segments and empty segments are removed first.
    case asSent(isNormalized: Bool)
    /// The service signs the percent-decoded path. For S3, whose keys may contain dot segments and empty segments.
    case decoded
  }

  /// The form in which content is signed.
  public enum Payload: Sendable, Hashable {
    /// The SHA-256 digest of the message's content. The content must be in memory.
    case content
    /// A precomputed SHA-256 digest of the content: 64 lowercase hexadecimal digits.
    case digest(String)
    /// The content is not signed (`UNSIGNED-PAYLOAD`). For S3, over https only, because an attacker on the network
    /// could replace unsigned content that is sent without TLS.
    case unsigned
    /// The content is sent in chunks of 64 KiB, each with a signature, while it is read (`aws-chunked`). For S3, for
    /// files and streams of known length. A message that was signed in this form cannot be signed again.
    ///
    /// - Parameter trailer: the checksum that follows the content, signed as well; `nil`: no checksum.
    case signedChunks(trailer: ChecksumAlgorithm? = nil)
    /// The content is sent in unsigned chunks, followed by a checksum. For S3, over https only.
    case unsignedChunks(trailer: ChecksumAlgorithm)

    /// The chunks in which the content is sent.
    var chunks: ChunkedPayload? {
      switch self {
      case .signedChunks(let trailer): ChunkedPayload(trailer: trailer, isSigned: true)
      case .unsignedChunks(let trailer): ChunkedPayload(trailer: trailer, isSigned: false)
      case .content, .digest, .unsigned: nil
      }
    }

    /// Whether only TLS protects the content.
    var needsTLS: Bool {
      switch self {
      case .unsigned, .unsignedChunks: true
      case .content, .digest, .signedChunks: false
      }
    }
  }

  /// A signed request, and the strings from which the signature was computed.
  public struct Signed: Sendable, SelfRedacting {
    /// The request with the signature.
    public var message: RequestMessage
    /// The request in the signed form, to be compared with the text in a server's error. The canonical request may
    /// contain secrets.
    public let canonicalRequest: String
    /// The text whose keyed hash is the signature. The text contains no secrets.
    public let stringToSign: String
    /// The signature: 64 lowercase hexadecimal digits.
    public let signature: String

    /// The string to sign, without the signature.
    public var description: String {
      "SignatureV4.Signed(\(stringToSign.split(separator: "\n").joined(separator: " ")))"
    }
  }

  /// The region, for example `eu-central-1`.
  public var region: String
  /// The name of the service in signatures, for example `s3` or `execute-api`.
  public let service: String
  /// The interpretation of paths. Default: ``PathRules/decoded`` for the service `s3`, otherwise
  /// ``PathRules/asSent(isNormalized:)`` with `true`.
  public var pathRules: PathRules
  /// Whether the field `X-Amz-Content-SHA256` is added. The field states how the content was signed. Default: `nil`:
  /// the field is added to requests to S3, because S3 requires it, but not to presigned URLs. With `true` a presigned
  /// URL covers the digest of the content: requests with a URL for S3 must then have the field, and requests with a URL
  /// for another service need no field.
  public var sendsPayload: Bool?
  /// Whether the session token of temporary credentials is part of the signature. Default: `true`; a few services
  /// require that it is added after signing.
  public var signsSessionToken = true
  private let keys = SigningKeys()

  /// Creates a signer.
  public init(region: String, service: String) {
    self.region = region
    self.service = service
    pathRules = service == "s3" ? .decoded : .asSent(isNormalized: true)
  }

  /// Signs a request in the field `Authorization`. Replaces an earlier signature.
  ///
  /// - Parameters:
  ///   - message: the complete request: changing it afterward makes the signature invalid.
  ///   - credentials: the identity.
  ///   - date: the time of the signature; the server's clock must agree within 15 minutes.
  ///   - payload: the form in which the content is signed. Default: ``Payload/content``.
  /// - Throws: ``SigningError``.
  public func sign(
    _ message: RequestMessage, with credentials: AWSCredentials, at date: Date, payload: Payload = .content
  ) throws(SigningError) -> Signed {
    if payload.needsTLS, message.head.scheme != "https" { throw .unsignedWithoutTLS }
    let moment = keys.moment(at: date, region, service, credentials.secretAccessKey)
    var message = Self.withoutSignature(message)
    let digest = try Self.digest(payload, of: message)
    let chunks = payload.chunks
    let length = try chunks.map { chunks throws(SigningError) in try Self.describe(chunks, in: &message) }
    if chunks != nil || sendsPayload ?? (service == "s3") { message.append(.payload, digest) }
    message.append(.date, moment.time)
    if signsSessionToken { try message.append(token: credentials.sessionToken) }
    let fields = try CanonicalFields(of: message.head)
    let request = canonicalRequest(message, fields, digest: digest)
    let (text, signature) = signature(of: request, at: moment)
    var value = CanonicalText(capacity: 320)
    value.append("\(Self.algorithm) Credential=")
    value.append(credentials.accessKeyID)
    value.append("/" as Unicode.Scalar)
    value.append(moment.scopeText)
    value.append(", SignedHeaders=")
    value.append(fields.names)
    value.append(", Signature=")
    value.append(signature)
    guard value.isPrintable else { throw .invalidCredentials }
    message.append(.authorization, value.string, isSecret: true)
    if !signsSessionToken { try message.append(token: credentials.sessionToken) }
    if let chunks, let length {
      let signing = ChunkSigning(key: moment.key, scope: "\(moment.time)\n\(moment.scopeText)", seed: signature)
      message.content = chunks.encoded(message.content, length: length, signing)
    }
    return Signed(
      message: message, canonicalRequest: request.string, stringToSign: text.string, signature: signature)
  }

  /// Signs a request in its query, for a URL that anyone may use until it expires.
  ///
  /// A request with the URL must have the same fields, because they are signed too. The content of a request to S3 is
  /// not signed unless ``sendsPayload`` is `true`, because usually the content is not known yet.
  ///
  /// - Parameters:
  ///   - message: the request.
  ///   - credentials: the identity. A URL that is signed with temporary credentials expires with them.
  ///   - date: the time from which the URL is valid.
  ///   - seconds: the time for which the URL is valid, from 1 to 604,800 (a week).
  /// - Returns: the signed request; its `url` is the URL.
  /// - Throws: ``SigningError``.
  public func presign(
    _ message: RequestMessage, with credentials: AWSCredentials, at date: Date, seconds: Int
  ) throws(SigningError) -> Signed {
    guard (1...604_800).contains(seconds) else { throw .invalidLifetime(seconds: seconds) }
    let moment = keys.moment(at: date, region, service, credentials.secretAccessKey)
    let identity = "\(credentials.accessKeyID)/\(moment.scopeText)"
    var message = Self.withoutSignature(message)
    let digest = try Self.digest(service == "s3" && sendsPayload != true ? .unsigned : .content, of: message)
    // Other services compute the digest from the content. A URL is used without the fields of this message.
    if sendsPayload == true, service == "s3" { message.append(.payload, digest) }
    let fields = try CanonicalFields(of: message.head)
    message.append(parameters: [
      ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", identity), ("X-Amz-Date", moment.time),
      ("X-Amz-SignedHeaders", fields.names), ("X-Amz-Expires", "\(seconds)"),
    ])
    let token = credentials.sessionToken.map { [("X-Amz-Security-Token", $0)] } ?? []
    if signsSessionToken { message.append(parameters: token) }
    let request = canonicalRequest(message, fields, digest: digest)
    let (text, signature) = signature(of: request, at: moment)
    message.append(parameters: [("X-Amz-Signature", signature)])
    if !signsSessionToken { message.append(parameters: token) }
    return Signed(
      message: message, canonicalRequest: request.string, stringToSign: text.string, signature: signature)
  }

  // MARK: Steps

  private func canonicalRequest(
    _ message: RequestMessage, _ fields: CanonicalFields, digest: String
  ) -> CanonicalText {
    let target = CanonicalTarget(message.target, pathRules)
    var text = CanonicalText(capacity: 1024)
    text.append(message.head.method.rawValue)
    text.append("\n" as Unicode.Scalar)
    target.append(pathTo: &text)
    text.append("\n" as Unicode.Scalar)
    target.append(queryTo: &text)
    text.append("\n" as Unicode.Scalar)
    fields.append(to: &text)
    text.append(digest)
    return text
  }

  private func signature(of request: CanonicalText, at moment: SigningMoment) -> (
    text: CanonicalText, signature: String
  ) {
    var text = CanonicalText(capacity: 192)
    text.append(Self.algorithm)
    text.append("\n" as Unicode.Scalar)
    text.append(moment.time)
    text.append("\n" as Unicode.Scalar)
    text.append(moment.scopeText)
    text.append("\n" as Unicode.Scalar)
    text.append(hexadecimal: SHA256.hash(data: request.bytes))
    var signature = CanonicalText(capacity: 64)
    signature.append(hexadecimal: HMAC<SHA256>.authenticationCode(for: text.bytes, using: moment.key))
    return (text, signature.string)
  }

  private static let algorithm = "AWS4-HMAC-SHA256"

  /// Returns the digest in the signed form.
  private static func digest(_ payload: Payload, of message: RequestMessage) throws(SigningError) -> String {
    switch (payload, message.content) {
    case (.digest(let digest), _): return digest
    case (.unsigned, _): return "UNSIGNED-PAYLOAD"
    case (.signedChunks, _), (.unsignedChunks, _): return payload.chunks?.name ?? ""
    case (.content, .empty): return emptyDigest
    case (.content, .bytes(let data)): return digest(of: data)
    case (.content, _): throw .contentNotInMemory
    }
  }

  static let emptyDigest = digest(of: Data())

  private static func digest(of data: Data) -> String {
    var text = CanonicalText(capacity: 64)
    text.append(hexadecimal: SHA256.hash(data: data))
    return text.string
  }

  /// Sets the fields that describe content in chunks.
  ///
  /// - Returns: the length of the content without the chunk framing.
  private static func describe(
    _ chunks: ChunkedPayload, in message: inout RequestMessage
  ) throws(SigningError) -> Int64 {
    guard let length = message.content.length, let sent = chunks.length(of: length) else { throw .unknownLength }
    let coding = message.head.headerFields[.contentEncoding].map { "aws-chunked,\($0)" }
    message.head.headerFields[.contentEncoding] = coding ?? "aws-chunked"
    if message.head.headerFields[.contentLength] != nil { message.head.headerFields[.contentLength] = "\(sent)" }
    message.append(.decodedLength, "\(length)")
    if let trailer = chunks.trailer { message.append(.trailer, trailer.fieldName) }
    return length
  }

  /// Returns the message without the fields of an earlier signature.
  private static func withoutSignature(_ message: RequestMessage) -> RequestMessage {
    var message = message
    if message.head.headerFields.contains(where: { SignatureField.contains($0.name.canonicalName) }) {
      message.head.headerFields.removeAll { SignatureField.contains($0.name.canonicalName) }
    }
    return message
  }
}

extension RequestMessage {
  /// Appends parameters to the query.
  fileprivate mutating func append(parameters: [(name: String, value: String)]) {
    var text = CanonicalText(capacity: 512)
    text.append(target)
    for (name, value) in parameters {
      let mark = text.bytes.contains(UInt8(ascii: "?"))
      let isOpen = mark && (text.bytes.last == UInt8(ascii: "?") || text.bytes.last == UInt8(ascii: "&"))
      if !isOpen { text.append(mark ? "&" as Unicode.Scalar : "?") }
      text.append("\(name)=")
      text.append(encoding: value.utf8)
    }
    target = text.string
  }
}
