#if os(Linux)
import Apus
import ApusTesting
import Foundation
import Testing

@testable import ApusAWS

/// Roles that the credentials chain assumes at moto's token service, and their use at moto's S3.
@Suite("AWS roles at an independent token service", .needs(.moto))
struct AWSRoleTests {
  private static let role = "arn:aws:iam::123456789012:role/"

  /// An environment with a profile `base`, which has the user's keys, and with profiles that assume roles with these
  /// keys.
  private func environment(_ url: String, secret: String = "testing") -> AWSEnvironment {
    var environment = AWSEnvironment(
      variables: ["AWS_ENDPOINT_URL_STS": url, "AWS_REGION": "us-east-1"], home: "/home/x")
    let files = [
      "/home/x/.aws/credentials": """
      [base]
      aws_access_key_id = test:tester
      aws_secret_access_key = \(secret)
      """,
      "/home/x/.aws/config": """
      [profile reader]
      role_arn = \(Self.role)reader
      source_profile = base
      role_session_name = tests
      duration_seconds = 900
      external_id = a+b&c=d é

      [profile writer]
      role_arn = \(Self.role)writer
      role_session_name = tests
      source_profile = base

      [profile chained]
      role_arn = \(Self.role)reader
      source_profile = writer
      """,
      "/token": "the token of an identity provider\n",
    ]
    environment.readFile = { path, _ in files[path].map { Data($0.utf8) } }
    return environment
  }

  /// Runs `body` with a bucket that contains the object `a`, and with the credentials of a machine.
  private func withChain(
    profile: String? = nil, variables: [String: String] = [:], secret: String = "testing",
    _ body: (S3Bucket, AWSCredentialsChain) async throws -> Void
  ) async throws {
    let url = try await RealServer.moto.value.url()
    var environment = environment(url, secret: secret)
    environment.profile = profile
    environment.variables.merge(variables) { $1 }
    let machine = environment
    try await S3Server.moto.withBucket { owned in
      try await owned.put("a", .text("film"))
      try await withTransport(.nio) { transport in
        let chain = AWSCredentialsChain(transport: transport, environment: machine)
        let client = Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport)
        try await body(S3(client, region: "us-east-1", credentials: chain).bucket(owned.name), chain)
      }
    }
  }

  @Test(
    "A profile assumes its role, and the role's policy determines the permissions", arguments: ["reader", "writer"])
  func profile(name: String) async throws {
    try await withChain(profile: name) { bucket, chain in
      #expect(try await bucket.get("a").data == Data("film".utf8))
      let error = await failure { try await bucket.put("b", .text("c")) }
      if name == "reader" {
        #expect(error?.status == 403 && error?.s3?.code == "AccessDenied")
      } else {
        #expect(error == nil)
      }
      let credentials = try await chain.credentials()
      #expect(credentials.sessionToken != nil)
      let left = try #require(credentials.expiration).timeIntervalSinceNow
      #expect(name == "reader" ? (840...900).contains(left) : (3540...3600).contains(left), "\(left)")
    }
  }

  @Test("A role is assumed with the credentials of another role, and their session token is signed")
  func chained() async throws {
    try await withChain(profile: "chained") { bucket, _ in
      let film = try await bucket.get("a")
      #expect(film.data == Data("film".utf8))
    }
  }

  @Test("A role is assumed with the token of an identity provider, without a signature")
  func webIdentity() async throws {
    let variables = ["AWS_ROLE_ARN": Self.role + "reader", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token"]
    try await withChain(variables: variables) { bucket, _ in
      let film = try await bucket.get("a")
      #expect(film.data == Data("film".utf8))
      #expect(await failure { try await bucket.put("b", .text("c")) }?.s3?.code == "AccessDenied")
    }
  }

  @Test("A wrong secret is refused by the token service")
  func wrongSecret() async throws {
    try await withChain(profile: "reader", secret: "wrong") { bucket, _ in
      let error = await failure { try await bucket.get("a") }
      let reason = (error?.underlying as? AWSCredentialsError)?.failures.last?.reason
      // moto writes the code to another place in the document than AWS.
      #expect(
        reason?.hasPrefix("profile reader: AssumeRole was rejected with the status 403, code ") == true,
        "\(String(describing: error))")
    }
  }
}
#endif
