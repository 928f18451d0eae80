import ApusCore
import ApusMiddleware
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client for services that issue credentials. Its responses are bounded, it uses no redirects, cookies and retries,
/// and its errors contain no part of a response.
struct ProviderClient: Sendable {
  /// A response, and the difference of the clocks.
  struct ServiceResponse: Sendable {
    let status: Int
    let content: Data
    /// The seconds by which the device's clock is ahead of the service's clock, if the difference is significant.
    let skew: TimeInterval

    var text: String? { String(validating: content, as: UTF8.self) }

    /// Converts a time of the service to the device's clock.
    func local(_ date: Date) -> Date { date.addingTimeInterval(skew) }
  }

  private static let contentLimit = 64 << 10
  /// The maximum difference, in seconds, that delays may explain.
  private static let negligibleSkew = 60.0

  private let client: Client
  private let timeout: Duration
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - base: the URL to which the paths of requests are relative.
  ///   - timeout: the timeout of each call.
  ///   - signing: the middleware that signs the calls; `nil`: the calls are not signed.
  init(
    _ base: String, timeout: Duration, _ context: ProviderContext, signing: SigningMiddleware? = nil
  ) throws(SourceFailure) {
    guard let base = try? BaseURL(base) else {
      throw SourceFailure(reason: "the address of the service is invalid")
    }
    var pipeline: Pipeline = [.timeout: TimeoutMiddleware(default: timeout)]
    if let signing { pipeline.insert(signing, .after(.authentication)) }
    var settings = ClientSettings()
    (settings.runtime, settings.contentLimit) = (context.runtime, Self.contentLimit)
    client = Client(
      environment: Environment("aws-credentials", baseURL: base), pipeline: pipeline, transport: context.transport,
      settings: settings)
    (self.timeout, now) = (timeout, context.environment.now)
  }

  func send(_ request: Request<Content>) async throws(SourceFailure) -> ServiceResponse {
    do {
      let response = try await client.response(to: request.accepting(.any).timeout(timeout))
      return ServiceResponse(status: response.status, content: response.value.data, skew: skew(response.head))
    } catch {
      let status = error.status.map { ", status \($0)" } ?? ""
      throw SourceFailure(reason: "the request failed (\(error.code.rawValue)\(status))")
    }
  }

  private func skew(_ head: HTTPResponse) -> TimeInterval {
    guard let date = ResponseMessage(head: head).date else { return 0 }
    let skew = now().timeIntervalSince(date)
    return abs(skew) > Self.negligibleSkew ? skew : 0
  }
}

extension URLReference {
  /// Parses a URL that the environment or the library specifies.
  static func ofService(_ text: String) throws(SourceFailure) -> URLReference {
    do {
      return try URLReference(text.utf8, relativeTo: nil)
    } catch {
      throw SourceFailure(reason: "the URL of the service \(error.reason)")
    }
  }

  /// Parses a URL in a setting. Credentials that are sent without TLS could be intercepted, so only loopback addresses
  /// and the hosts of the service may be used without TLS.
  ///
  /// - Parameters:
  ///   - source: the setting, as the subject of a sentence.
  ///   - hosts: the hosts of the service. Default: none.
  static func ofService(
    _ text: String, from source: String, withoutTLS hosts: Set<String> = []
  ) throws(SourceFailure) -> URLReference {
    let url = try ofService(text)
    guard url.origin.scheme == "https" || url.origin.isThisMachine || hosts.contains(url.origin.host) else {
      throw SourceFailure(
        reason: "\(source) is neither https nor a loopback address" + (hosts.isEmpty ? "" : " nor that of the service"))
    }
    return url
  }

  /// The URL as the path of a request.
  var path: RequestPath { .url("\(origin)\(target)") }
}

/// Credentials in the format of the metadata services.
struct ServiceCredentials: Decodable {
  let code: String?
  let id: String?
  let secret: String?
  let token: String?
  let expiration: String?

  enum CodingKeys: String, CodingKey {
    case code = "Code"
    case id = "AccessKeyId"
    case secret = "SecretAccessKey"
    case token = "Token"
    case expiration = "Expiration"
  }

  static func read(_ response: ProviderClient.ServiceResponse) throws(SourceFailure) -> AWSCredentials {
    guard let found = try? JSONCoding.default.decode(Self.self, from: response.content) else {
      throw SourceFailure(reason: "the response of the service cannot be read")
    }
    if let code = found.code, code != "Success" {
      throw SourceFailure(reason: "the service responds with the code \(ErrorName.printable(code))")
    }
    let expiration = try found.expiration.map { text throws(SourceFailure) in
      guard let date = Date.ofService(text) else { throw SourceFailure(reason: "the expiration cannot be read") }
      return response.local(date)
    }
    return try AWSCredentials.checked(found.id, found.secret, token: found.token, expiration: expiration)
  }
}

/// The name of an error in a response, limited to the part that logs may contain.
enum ErrorName {
  static func printable(_ name: String?) -> String {
    guard let name, !name.isEmpty, name.utf8.count <= 64,
      name.utf8.allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: ".")
      })
    else { return "unknown" }
    return name
  }
}
