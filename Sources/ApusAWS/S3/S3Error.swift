public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reason why a server rejected a request to S3.
///
/// An `S3Error` is the rejection of a failed call: `error.s3?.code == "NoSuchKey"`.
public struct S3Error: Error, Sendable, Hashable {
  /// The code, for example `NoSuchKey` or `SignatureDoesNotMatch`.
  ///
  /// A response to HEAD has no content. Its code is `NotFound` for the status 404, `PreconditionFailed` for 412,
  /// `NotModified` for 304, `AccessDenied` for 403, and `Rejected` for all other statuses.
  public let code: String
  /// The server's sentence about the error, at most 300 characters on one line. The sentence may contain the names of
  /// the bucket and the key.
  public let message: String?
  /// The identifier of the request in the server's logs.
  public let requestID: String?
  /// The correct region of the request, if the server states it.
  let region: String?

  /// Creates an error. The code, the message and the identifier are shortened and cleaned like those of a server.
  init(code: String, message: String? = nil, requestID: String? = nil) {
    self.init(code, message, requestID: requestID, region: nil)
  }

  /// Creates an error from strings of a server. Each string is reduced to one line without control characters, because
  /// people read it.
  private init(_ code: String, _ message: String?, requestID: String?, region: String?) {
    self.code = ServerText.code(code) ?? ""
    self.message = message.flatMap { ServerText.message($0) }
    self.requestID = requestID.flatMap { ServerText.code($0) }
    self.region = region
  }

  /// Parses the content (body) of a response. Returns `nil` if it is not an S3 error.
  init?(_ content: Data) {
    guard content.count <= Self.limit, let tree = try? XMLReader.read(content) else { return nil }
    self.init(tree)
  }

  /// Parses an element. Returns `nil` if it is not an S3 error.
  init?(_ tree: XMLTree) {
    guard tree.name == "Error" || tree.name == "ErrorResponse" else { return nil }
    let error = tree["Error"] ?? tree
    self.init(
      error.text(of: "Code") ?? "", error.text(of: "Message"),
      requestID: error.text(of: "RequestId") ?? tree.text(of: "RequestId"), region: error.text(of: "Region"))
    if code.isEmpty { return nil }
  }

  /// The maximum number of bytes of an error.
  static let limit = 1 << 20
}

extension S3Error: SelfRedacting {
  /// The code and the identifier of the request, without the message.
  public var description: String { requestID.map { "\(code) (request \($0))" } ?? code }
}

/// The content of a rejection. ``S3RejectionFormat`` reads it from XML without `Decodable`.
struct S3Rejection: Decodable, Sendable {
  let error: S3Error

  init(_ error: S3Error) {
    self.error = error
  }

  init(from decoder: any Decoder) throws {
    throw XMLFailure.missing("Error")
  }
}

extension CallError {
  /// The reason why the server rejected a request to S3, or `nil` for other errors.
  public var s3: S3Error? {
    if let error = rejection(as: S3Rejection.self)?.error { return error }
    guard code == .rejected, let status else { return nil }
    let field = head?.headerFields.first { $0.name.canonicalName == "x-amz-request-id" }
    let code =
      switch status {
      case 304: "NotModified"
      case 403: "AccessDenied"
      case 404: "NotFound"
      case 412: "PreconditionFailed"
      default: "Rejected"
      }
    return S3Error(code: code, requestID: field?.value)
  }
}

/// The format of the content of rejections.
struct S3RejectionFormat: ContentFormat {
  var mediaType: MediaType { "application/xml" }

  func encode(_ value: some Encodable) throws -> Data { throw XMLFailure.missing("Error") }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    guard let error = S3Error(data), let value = S3Rejection(error) as? Value else { throw XMLFailure.missing("Error") }
    return value
  }
}
