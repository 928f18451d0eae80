import ApusCore
import ApusMiddleware
import HTTPTypes

@testable import ApusCredentials

/// A message that responds to a challenge. By default it is that of RFC 7616 §3.9.1, with a fixed client nonce.
struct DigestExchange {
  var scheme = DigestScheme(random: DigestBench.random)
  var credential = Credential.password(user: "Mufasa", "Circle of Life")
  var request = DigestBench.request("/dir/index.html")

  /// Returns the value of `Authorization`; `nil` if the scheme adds no response.
  func answer(to challenge: String) async throws -> String? {
    var request = request
    let challenge = Challenge.all(in: [.wwwAuthenticate: challenge]).first
    guard try await scheme.authorize(&request, with: credential, for: challenge) else { return nil }
    return request.head.headerFields[.authorization]
  }

  /// Returns the parameters of the response.
  func parameters(for challenge: String) async throws -> [String: String] {
    DigestBench.parameters(of: try await answer(to: challenge))
  }

  /// Returns the error that the scheme throws.
  func refusal(of challenge: String) async -> TransportError? {
    do {
      _ = try await answer(to: challenge)
      return nil
    } catch {
      return error as? TransportError
    }
  }
}

/// The values that tests of digest share.
enum DigestBench {
  /// A secret that must appear only in sent messages.
  static let sentinel = "s3nt1nel-SECRET-0xDEADBEEF"
  static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
  /// The client nonce that results from ``random``.
  static let clientNonce = "0123456789abcdef0123456789abcdef"
  static let random: @Sendable () -> UInt64 = { 0x0123_4567_89AB_CDEF }

  /// Returns a challenge for the message of RFC 7616 §3.9.1.
  static func challenge(_ rest: String) -> String {
    "Digest realm=\"http-auth@example.org\", nonce=\"\(nonce)\", \(rest)"
  }

  static func request(_ target: String, _ method: HTTPRequest.Method = .get) -> RequestMessage {
    RequestMessage(head: HTTPRequest(method: method, scheme: "https", authority: "api.example.com", path: target))
  }

  /// Parses the parameters of credentials, which have the syntax of a challenge's parameters.
  static func parameters(of authorization: String?) -> [String: String] {
    guard let authorization, let read = Challenge.all(in: [.wwwAuthenticate: authorization]).first else { return [:] }
    return Dictionary(read.parameters.map { ($0.name, $0.value) }) { first, _ in first }
  }
}
