#if os(Linux)
import Apus
import ApusMiddleware
import ApusNIO
import Foundation
import Synchronization

@testable import ApusAWS

/// S3 servers that verify signatures.
enum S3Server: String, CaseIterable, Sendable {
  case seaweedfs
  /// SeaweedFS over https.
  case secureSeaweedFS
  case swift
  case moto

  /// The servers that also verify content and time. moto accepts any content and any time, and without AWS's library it
  /// computes CRC-32 instead of the default checksum of parts.
  static let strict: [S3Server] = [.seaweedfs, .swift]

  func started() async throws -> RealServer {
    switch self {
    case .seaweedfs, .secureSeaweedFS: try await RealServer.seaweedfs.value
    case .swift: try await RealServer.swift.value
    case .moto: try await RealServer.moto.value
    }
  }

  /// Returns the authorities that signed the server's certificate.
  func authorities() async throws -> [Data] {
    self == .secureSeaweedFS ? [try await started().file("ca.pem")] : []
  }

  /// A closure that wraps the usual transport for a test.
  typealias Wrap = @Sendable (any Transport) -> any Transport

  /// The account, which is the same on all servers.
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
      // This client creates and removes the bucket, so the test's changes to requests do not affect these two requests.
      let client = Client(environment: Environment(baseURL: url), transport: transport)
      try await S3(client, region: "us-east-1", credentials: Self.credentials).bucket(name).create()
      let changed = Client(environment: Environment(baseURL: url), transport: wrap(transport))
      let middleware = S3Middleware(
        region: "us-east-1", endpoint: S3Endpoint(addressing: .automatic), credentials: credentials, now: now)
      return try await body(S3(changed, middleware).bucket(name))
    }
  }
}

/// A transport that changes signed requests, or throws an error instead of sending them.
struct MeddlingTransport: Transport {
  let inner: any Transport
  /// Changes the request, or throws.
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

/// A counter.
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

/// A transport that removes the server's time from responses.
struct TimelessTransport: Transport {
  let inner: any Transport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var response = try await inner.send(request, context: context)
    response.head.headerFields[.date] = nil
    return response
  }
}
#endif
