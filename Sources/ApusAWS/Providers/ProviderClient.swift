import ApusCore
import ApusMiddleware
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client for a service that issues credentials: bounded, without redirects, cookies and retries, and with errors that
/// show nothing of a response.
struct ProviderClient: Sendable {
  /// A response, and how far the service's clock is ahead.
  struct Answer: Sendable {
    let status: Int
    let content: Data
    /// The seconds by which the device's clock is ahead of the service's, if they differ noticeably.
    let skew: TimeInterval

    var text: String? { String(validating: content, as: UTF8.self) }

    /// A time of the service, by the device's clock.
    func local(_ date: Date) -> Date { date.addingTimeInterval(skew) }
  }

  private static let contentLimit = 64 << 10
  /// A difference that delays may explain, in seconds.
  private static let negligibleSkew = 60.0

  private let client: Client
  private let timeout: Duration
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - base: the URL to which the paths of requests are relative.
  ///   - timeout: the limit of each call.
  ///   - signing: the middleware that signs the calls; `nil`: none.
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

  func send(_ request: Request<Content>) async throws(SourceFailure) -> Answer {
    do {
      let response = try await client.response(to: request.accepting(.any).timeout(timeout))
      return Answer(status: response.status, content: response.value.data, skew: skew(response.head))
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
  /// A URL that the environment or the library gives.
  static func ofService(_ text: String) throws(SourceFailure) -> URLReference {
    do {
      return try URLReference(text.utf8, relativeTo: nil)
    } catch {
      throw SourceFailure(reason: "the URL of the service \(error.reason)")
    }
  }

  /// A URL that a setting names. Anybody on the way could read credentials that are sent without TLS, so only this
  /// machine and the hosts of the service may do without.
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

  /// The URL as a path of a request.
  var path: RequestPath { .url("\(origin)\(target)") }
}

/// Credentials as the metadata services write them.
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

  static func read(_ answer: ProviderClient.Answer) throws(SourceFailure) -> AWSCredentials {
    guard let found = try? JSONCoding.default.decode(Self.self, from: answer.content) else {
      throw SourceFailure(reason: "the response of the service cannot be read")
    }
    if let code = found.code, code != "Success" {
      throw SourceFailure(reason: "the service answers with the code \(ErrorName.shown(code))")
    }
    let expiration = try found.expiration.map { text throws(SourceFailure) in
      guard let date = Date.ofService(text) else { throw SourceFailure(reason: "the expiration cannot be read") }
      return answer.local(date)
    }
    return try AWSCredentials.checked(found.id, found.secret, token: found.token, expiration: expiration)
  }
}

/// The name of an error in a response, as far as a text for logs may show it.
enum ErrorName {
  static func shown(_ name: String?) -> String {
    guard let name, !name.isEmpty, name.utf8.count <= 64,
      name.utf8.allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: ".")
      })
    else { return "unknown" }
    return name
  }
}
