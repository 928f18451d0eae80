public import ApusCore
import ApusMiddleware
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A middleware that signs requests with AWS signatures, version 4.
///
/// Insert the middleware after other authentication, so that each attempt and each hop of a redirect gets a new
/// signature:
///
/// <!-- sample: signing-middleware -->
/// ```swift
/// let signing = SigningMiddleware(
///   SignatureV4(region: "eu-central-1", service: "execute-api"), credentials: credentials)
/// let api = Client(baseURL: "https://abc123.execute-api.eu-central-1.amazonaws.com") {
///   $0.customizePipeline = { $0.insert(signing, .after(.authentication)) }
/// }
/// ```
///
/// Requests to the origin of the base URL, to further origins of the middleware, and to origins that the endpoint
/// trusts (`.trusting(_:)`) are signed. Requests to other origins, requests of endpoints without credentials
/// (`.credentials(.none)`), presigned URLs and requests with another `Authorization` are sent unchanged.
///
/// If the server rejects a request because of the device's clock, the request is signed once more with the server's
/// time. Later requests to that origin use the server's time as well. This happens over https only, and if the clock is
/// wrong by at most 24 hours. A request whose credentials have expired is signed once more with new credentials.
public final class SigningMiddleware: Middleware {
  private let signer: SignatureV4
  private let provider: any AWSCredentialsProvider
  /// The credentials of a provider whose credentials do not change.
  private let fixed: AWSCredentials?
  private let cachingProvider: (any ReadyCredentialsProvider)?
  private let origins: Set<Origin>
  private let now: @Sendable () -> Date
  private let skew = Mutex(ClockSkewState())

  /// Creates the middleware.
  ///
  /// - Parameters:
  ///   - signer: the region, the service and its rules.
  ///   - credentials: the provider of the credentials. Pass ``AWSCredentials`` for credentials that do not change.
  ///   - origins: origins, besides the origin of the base URL, to which requests are signed. Default: none.
  ///   - now: the device's time. Default: the system's.
  public init(
    _ signer: SignatureV4, credentials: any AWSCredentialsProvider, origins: Set<Origin> = [],
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.signer, provider, self.origins, self.now) = (signer, credentials, origins, now)
    (fixed, cachingProvider) = (credentials as? AWSCredentials, credentials as? any ReadyCredentialsProvider)
  }

  /// Signs the request and passes it on. If the server rejects it because of the clock or the credentials, signs and
  /// sends it once more.
  ///
  /// - Throws: `TransportError` whose cause is a ``SigningError``, with the code `invalidRequest`, if the request
  ///   cannot be signed; with the code `refused` and the provider's error as its cause, if no credentials are
  ///   available.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let origin = signedOrigin(of: request, context) else { return try await next(request, context: context) }
    let attempt = try sign(request, to: origin, with: try await credentials(context), context)
    let response = try await next(attempt.message, context: context)
    guard Self.isRejection(response.statusCode), context.delivery != .described else { return response }
    return try await resend(attempt, after: response, context, next)
  }

  // MARK: Steps

  /// A signed request.
  private struct Attempt {
    let request: RequestMessage
    let origin: Origin
    let message: RequestMessage
    let credentials: AWSCredentials
    let date: Date
  }

  /// Returns the origin of a request that is signed; `nil` if the request is sent unchanged.
  private func signedOrigin(of request: RequestMessage, _ context: CallContext) -> Origin? {
    guard context.values[CredentialsPolicyKey.self] != .none, let origin = request.origin,
      context.isTrusted(request) || origins.contains(origin)
    else { return nil }
    if let other = request.head.headerFields[.authorization], !other.hasPrefix("AWS4-") { return nil }
    return request.isPresigned ? nil : origin
  }

  private func credentials(_ context: CallContext) async throws -> AWSCredentials {
    if let fixed { return fixed }
    if let ready = cachingProvider?.ready { return ready }
    do {
      // The fetch may need the permit that this call holds.
      return try await context.withoutPermit {
        if let cachingProvider { return try await cachingProvider.credentials(for: context) }
        return try await provider.credentials()
      }
    } catch let error as CancellationError {
      throw error
    } catch let error as TransportError {
      throw error.attributed(to: .credentials)
    } catch {
      throw TransportError(
        .refused, requestState: .notSent, detail: "there are no AWS credentials", underlying: error
      ).attributed(to: .credentials)
    }
  }

  private func sign(
    _ request: RequestMessage, to origin: Origin, with credentials: AWSCredentials, _ context: CallContext
  ) throws -> Attempt {
    var signer = signer
    if let region = context.values[SigningRegionKey.self] { signer.region = region }
    let payload = context.values[SigningPayloadKey.self] ?? signer.payload(of: request)
    let date = skew.withLock { $0.date(for: origin, at: now()) }
    do {
      let signed = try signer.sign(request, with: credentials, at: date, payload: payload)
      return Attempt(
        request: request, origin: origin, message: signed.message, credentials: credentials, date: date)
    } catch {
      throw TransportError(
        .invalidRequest, requestState: .notSent, detail: error.description, underlying: error
      ).attributed(to: .credentials)
    }
  }

  private static func isRejection(_ status: Int) -> Bool { status == 403 || status == 400 || status == 401 }

  // MARK: Rejections

  /// A change that may make the server accept the request. Each remedy is applied at most once.
  private enum Remedy {
    case time, credentials
  }

  private func resend(
    _ rejected: Attempt, after rejection: ResponseMessage, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    var (attempt, response) = (rejected, rejection)
    var tried: Set<Remedy> = []
    while Self.isRejection(response.statusCode), attempt.request.content.isReplayable {
      response = try await Self.readable(response, context)
      guard let remedy = remedy(for: attempt, after: response, context), tried.insert(remedy).inserted else { break }
      var credentials = attempt.credentials
      if remedy == .credentials {
        do {
          credentials = try await self.credentials(context)
        } catch var error as TransportError {
          error.requestState = .responded
          throw error
        }
        guard credentials != attempt.credentials else { break }
      }
      response.discard()
      attempt = try sign(attempt.request, to: attempt.origin, with: credentials, context)
      response = try await next(attempt.message, context: context)
    }
    return response
  }

  private func remedy(for attempt: Attempt, after response: ResponseMessage, _ context: CallContext) -> Remedy? {
    let code = AWSErrorCode(of: response)
    if code == .expiredCredentials {
      context.record(.note("the server rejected expired credentials, status", Int64(response.statusCode)))
      provider.invalidate(attempt.credentials)
      return .credentials
    }
    let rejection = ClockSkewState.Rejection(
      origin: attempt.origin, code: code, signedAt: attempt.date, now: now(), serverDate: response.date)
    guard let offset = skew.withLock({ $0.correct(after: rejection) }) else { return nil }
    context.record(.note("signs with the server's clock, ahead by s", Int64(clamping: offset)))
    return .time
  }

  /// The maximum number of bytes that are read into memory from a rejection.
  private static let maximumRejectionLength = 64 << 10

  /// Returns the rejection with its content in memory. Content whose announced length exceeds the maximum stays unread,
  /// and any other long or slow content is discarded.
  private static func readable(_ response: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    if response.content.bytes != nil { return response }
    if let length = response.content.expectedLength, length > maximumRejectionLength { return response }
    let content = try await IntermediateContent.collect(response.content, upTo: maximumRejectionLength, context)
    var readable = response
    readable.content = content.map { ResponseContent($0) } ?? .empty
    return readable
  }
}

extension SigningMiddleware: SelfDescribing {
  /// The region and the service.
  package var facts: [Fact] { [.setting("signs for", "\(signer.service) in \(signer.region)")] }
}

extension SignatureV4 {
  /// Returns the payload of a request whose endpoint specifies no payload.
  fileprivate func payload(of request: RequestMessage) -> Payload {
    switch request.content {
    case .empty, .bytes: .content
    default:
      // Services other than S3 require a digest.
      if pathRules != .decoded { .content } else { request.head.scheme == "https" ? .unsigned : .signedChunks() }
    }
  }
}

extension RequestMessage {
  /// Whether the query has a signature. Servers reject requests with two signatures.
  fileprivate var isPresigned: Bool {
    let bytes = target.utf8
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return false }
    return bytes[mark...].split(separator: UInt8(ascii: "&")).contains { item in
      (item.first == UInt8(ascii: "?") ? item.dropFirst() : item).starts(with: "X-Amz-Signature=".utf8)
    }
  }
}

extension Int64 {
  fileprivate init(clamping seconds: TimeInterval) {
    self = Int64(exactly: seconds.rounded()) ?? (seconds > 0 ? .max : .min)
  }
}
