import Apus
import ApusAWS
import ApusNIO
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Uploading

/// The clients that upload.
enum Contender {
  /// Returns a bucket of a server, for the default client.
  static func bucket(_ url: String, _ name: String) throws -> S3Bucket {
    let environment = ProcessInfo.processInfo.environment
    guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
      throw NoCredentials()
    }
    var options = NIOTransport.Options()
    if let authorities = authorities() {
      options.trust.trustRoots = .only(try Data(contentsOf: URL(fileURLWithPath: authorities)))
    }
    let client = Client(baseURL: try BaseURL(url), transport: NIOTransport(options: options))
    let credentials = AWSCredentials(accessKeyID: key, secretAccessKey: secret)
    return S3(client, region: "us-east-1", credentials: credentials).bucket(name)
  }

  /// Creates a bucket, and stores an object in it, because the first object costs some servers seconds.
  static func prepare(_ url: String, bucket name: String) async throws {
    let bucket = try bucket(url, name)
    try await bucket.create()
    try await bucket.put("small", .text("small"))
  }

  /// Puts a file with async-http-client, in pieces of the size with which that client is fastest.
  static func put(
    _ path: String, to url: String, _ timed: (() async throws -> Void) async throws -> Void
  ) async throws {
    var configuration = HTTPClient.Configuration.singletonConfiguration
    if let authorities = authorities() {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(authorities)
      configuration.tlsConfiguration = tls
    }
    let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    try await timed {
      let content = try FilePieces(path: path, of: 512 << 10)
      var request = HTTPClientRequest(url: url)
      request.method = .PUT
      request.body = .stream(content, length: .known(content.length))
      let response = try await client.execute(request, timeout: .minutes(10))
      let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
      guard response.status == .ok else { throw Refused(status: response.status.code, text: text) }
    }
    try await client.shutdown()
  }

  /// Returns the path of the file with the trusted authorities, from the variable that the `aws` command uses.
  private static func authorities() -> String? { ProcessInfo.processInfo.environment["AWS_CA_BUNDLE"] }

  struct NoCredentials: Error {}

  struct Refused: Error {
    let status: UInt
    let text: String
  }
}
