#if os(Linux)
import Apus
import ApusMiddleware
import ApusNIO
import Foundation
import Synchronization

@testable import ApusAWS

/// The servers with the API of S3 that verify signatures.
enum S3Server: String, CaseIterable, Sendable {
  case seaweedfs
  /// SeaweedFS over https.
  case secureSeaweedFS
  case swift
  case moto

  /// The servers that check content and time as well. moto takes any content and any time, and without the library of
  /// AWS it computes CRC-32 in place of the default checksum of parts.
  static let strict: [S3Server] = [.seaweedfs, .swift]

  func started() async throws -> RealServer {
    switch self {
    case .seaweedfs, .secureSeaweedFS: try await RealServer.seaweedfs.value
    case .swift: try await RealServer.swift.value
    case .moto: try await RealServer.moto.value
    }
  }

  /// The authorities that signed the server's certificate.
  func authorities() async throws -> [Data] {
    self == .secureSeaweedFS ? [try await started().file("ca.pem")] : []
  }

  /// Makes the transport of a test from the usual one.
  typealias Wrap = @Sendable (any Transport) -> any Transport

  /// The account that all servers have.
  static let credentials = AWSCredentials(accessKeyID: "test:tester", secretAccessKey: "testing")

  /// Runs `body` with a new bucket.
  ///
  /// - Parameters:
  ///   - wrap: wraps the transport of the bucket.
  ///   - now: the device's time. Default: the system's.
  func withBucket<Result>(
    _ credentials: AWSCredentials = Self.credentials, over wrap: Wrap = { $0 },
    now: @escaping @Sendable () -> Date = { Date() }, body: (S3Bucket) async throws -> Result
  ) async throws -> Result {
    let server = try await started()
    let url = try BaseURL(self == .secureSeaweedFS ? "https://127.0.0.1:\(server.port("tls"))" : server.url())
    let authorities = try await authorities()
    return try await withTransport(.nio) {
      $0.trust.additionalTrustRoots = authorities
    } body: { transport in
      let name = "bucket-\(UUID().uuidString.lowercased())"
      // The bucket exists whatever the test does to its own requests.
      let client = Client(environment: Environment(baseURL: url), transport: transport)
      try await S3(client, region: "us-east-1", credentials: Self.credentials).bucket(name).create()
      let changed = Client(environment: Environment(baseURL: url), transport: wrap(transport))
      let middleware = S3Middleware(
        region: "us-east-1", endpoint: S3Endpoint(addressing: .automatic), credentials: credentials, now: now)
      return try await body(S3(changed, middleware).bucket(name))
    }
  }
}

/// A transport that changes requests after they were signed, or fails in place of another transport.
struct MeddlingTransport: Transport {
  let inner: any Transport
  /// Throws, or changes the request.
  let meddle: @Sendable (inout RequestMessage) throws -> Void

  init(_ inner: any Transport, meddle: @escaping @Sendable (inout RequestMessage) throws -> Void) {
    (self.inner, self.meddle) = (inner, meddle)
  }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var request = request
    try meddle(&request)
    return try await inner.send(request, context: context)
  }
}

/// A number that counts up.
final class FailureCount: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  /// Returns the next number, from 1.
  func next() -> Int {
    number.withLock { number in
      number += 1
      return number
    }
  }
}

/// A transport that hides the time of the server.
struct TimelessTransport: Transport {
  let inner: any Transport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var response = try await inner.send(request, context: context)
    response.head.headerFields[.date] = nil
    return response
  }
}
#endif
