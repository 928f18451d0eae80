public import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Objects in buckets, on AWS or on any server with the API of S3.
///
/// ```swift
/// let api = Client(baseURL: "https://s3.eu-central-1.amazonaws.com")
/// let films = S3(api, region: "eu-central-1", credentials: credentials).bucket("films")
/// try await films.put("ran.txt", .text("A film by Akira Kurosawa"))
/// let note = try await films.get("ran.txt")
/// ```
///
/// All operations are calls of the client: its deadlines, retries, limits and observers apply. Their errors are
/// `CallError`, whose ``ApusCore/CallError/s3`` is the server's reason.
///
/// Every attempt of a request is signed anew (Signature Version 4). Over https the content is protected by TLS and by a
/// checksum; over http its digest is signed, too. If a bucket is in another region, the request is resent there, and
/// later requests are sent there immediately.
public struct S3: Sendable {
  /// The client of the operations, which has its own list of calls, and shares connections, limits and policies with
  /// the client that the app passed.
  let client: Client
  /// The region of buckets whose region is not known yet.
  let region: String

  /// Creates access to a server.
  ///
  /// - Parameters:
  ///   - client: a client with the URL of the server as its base URL, for example
  ///     `https://s3.eu-central-1.amazonaws.com` or `https://example.com/storage/v1/s3`. Buckets are below the path of
  ///     this URL. The signature replaces the client's own authentication.
  ///   - region: the region in signatures, and in hosts of AWS. Servers other than AWS often expect `us-east-1`.
  ///   - credentials: the provider of the credentials. Pass ``AWSCredentials`` for credentials that do not change.
  ///     `nil`: requests are not signed, for public buckets.
  ///   - addressing: how requests state the bucket. Default: ``S3Addressing/automatic``.
  public init(
    _ client: Client, region: String, credentials: (any AWSCredentialsProvider)?, addressing: S3Addressing = .automatic
  ) {
    let endpoint = S3Endpoint(addressing: addressing)
    self.init(client, S3Middleware(region: region, endpoint: endpoint, credentials: credentials) { Date() })
  }

  init(_ client: Client, _ middleware: S3Middleware) {
    region = middleware.region
    self.client = client.inserting(middleware, .before(.transport))
  }

  /// Returns access to a bucket, without sending a request.
  public func bucket(_ name: String) -> S3Bucket { S3Bucket(name: name, s3: self) }
}

extension S3: SelfRedacting {
  /// The region and the client's environment, without credentials.
  public var description: String { "S3(\(region), \(client.environment))" }
}
