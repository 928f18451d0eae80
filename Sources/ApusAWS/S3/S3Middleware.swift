import ApusCore
import ApusMiddleware
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The middleware that completes a request to S3: address, checksums and signature.
///
/// This middleware is the last middleware before the transport, so each attempt has a new signature. If the server
/// states another region for the bucket, the request is resent there, with a signature for that region. Content that
/// can be read only once is not resent: the call fails with the server's rejection, and the next call is sent to that
/// region.
struct S3Middleware: Middleware {
  let region: String
  let endpoint: S3Endpoint
  /// The provider of the credentials; `nil`: requests are not signed.
  let credentials: (any AWSCredentialsProvider)?
  let now: @Sendable () -> Date
  private let regions = S3Regions()
  private let signing: SigningMiddleware?

  init(
    region: String, endpoint: S3Endpoint, credentials: (any AWSCredentialsProvider)?,
    now: @escaping @Sendable () -> Date
  ) {
    (self.region, self.endpoint, self.credentials, self.now) = (region, endpoint, credentials, now)
    signing = credentials.map {
      SigningMiddleware(SignatureV4(region: region, service: "s3"), credentials: $0, now: now)
    }
  }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let route = context.values[S3RouteKey.self] else { return try await next(request, context: context) }
    var (request, context) = (request, context)
    // Removes the client's own credentials, which the signature replaces.
    request.head.headerFields[.authorization] = nil
    context.values[SigningPayloadKey.self] = try await describeContent(of: &request, route, context)
    var region = regions[route.bucket] ?? region
    var rounds = 0
    while true {
      var response = try await send(request, (route, region), context, next)
      guard context.delivery != .described else { return response }
      try await response.collect(for: route.success, context)
      guard let other = S3Regions.region(in: response.head, response.content.bytes), other != region else {
        return try finished(response, route, context)
      }
      regions[route.bucket] = other
      guard rounds < Self.maximumMoves, request.content.isReplayable else {
        context.record(
          .note("the bucket is in another region; the request is not sent again, status", Int64(response.statusCode)))
        return try finished(response, route, context)
      }
      context.record(.note("sends the request again in the bucket's region, status", Int64(response.statusCode)))
      response.discard()
      region = other
      rounds += 1
    }
  }

  private func send(
    _ request: RequestMessage, _ place: (route: S3Route, region: String), _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (request, context) = (request, context)
    let (route, region) = place
    try endpoint.write(route, region: region, to: &request.head)
    if let seconds = route.presigned { return try await next(presign(request, region, seconds), context: context) }
    guard let signing else { return try await next(request, context: context) }
    guard let origin = request.origin else { throw TransportError.unusableHost("the URL of the server has no host") }
    context.values[SigningRegionKey.self] = region
    context.values[TrustedOriginsKey.self].insert(origin)
    return try await signing.intercept(request, context: context, next: next)
  }

  /// The maximum number of times that a request is resent to another region.
  private static let maximumMoves = 2

  private func finished(
    _ response: ResponseMessage, _ route: S3Route, _ context: CallContext
  ) throws -> ResponseMessage {
    let response = response.withoutFalseSuccess(for: route.success, context)
    return route.verifies ? try response.verified() : response
  }

  // MARK: Request

  /// Adds the fields that describe the content (body), and returns how the content is signed.
  private func describeContent(
    of request: inout RequestMessage, _ route: S3Route, _ context: CallContext
  ) async throws -> SignatureV4.Payload {
    guard !request.content.isEmpty, context.delivery != .described else { return .digest(SignatureV4.emptyDigest) }
    let isSecure = request.head.scheme == "https"
    let digests = context.values[S3DigestsKey.self] ?? S3ContentDigests()
    let values: S3ContentDigests.Values
    do {
      values = try await digests.values(
        of: request.content, .init(checksum: route.checksum, isSigned: !isSecure, md5: route.sendsMD5))
    } catch {
      throw TransportError(
        .invalidRequest, requestState: .notSent, detail: "the content cannot be read", underlying: error
      ).attributed(to: .content)
    }
    if let checksum = route.checksum, let value = values.checksum {
      try request.addField(RawField(checksum.fieldName, value))
    }
    if let md5 = values.md5 { try request.addField(RawField("Content-MD5", md5)) }
    return values.signed.map { .digest($0) } ?? .unsigned
  }

  private func presign(_ request: RequestMessage, _ region: String, _ seconds: Int) async throws -> RequestMessage {
    var request = request
    // A request with the presigned URL is sent without these fields.
    request.head.headerFields = [:]
    do {
      guard let identity = try await credentials?.credentials() else { throw SigningError.invalidCredentials }
      let signer = SignatureV4(region: region, service: "s3")
      return try signer.presign(request, with: identity, at: now(), seconds: seconds).message
    } catch let error as SigningError {
      throw TransportError(.invalidRequest, requestState: .notSent, detail: error.description, underlying: error)
    }
  }
}
