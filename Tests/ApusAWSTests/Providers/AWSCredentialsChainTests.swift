import ApusCore
import ApusMiddleware
import ApusTesting
import Foundation
import HTTPTypes
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

@Suite("Credentials chain", .timeLimit(.minutes(5)))
struct AWSCredentialsChainTests {
  private typealias Source = AWSCredentialsError.Source

  @Test("The first configured provider determines the credentials")
  func order() async throws {
    var bench = ProviderBench(
      ["AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "SENTINEL-secret", "AWS_SESSION_TOKEN": "t"],
      files: ["/home/x/.aws/credentials": "[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s"])
    #expect(
      try await bench.chain.credentials()
        == AWSCredentials(accessKeyID: "AKIDENV", secretAccessKey: "SENTINEL-secret", sessionToken: "t"))
    bench.environment.variables["AWS_ACCESS_KEY_ID"] = ""
    bench.environment.variables["AWS_SECRET_ACCESS_KEY"] = nil
    #expect(try await bench.chain.credentials().accessKeyID == "AKIDFILE")
    bench.environment.variables = ["AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "s"]
    bench.environment.profile = "default"
    #expect(try await bench.chain.credentials().accessKeyID == "AKIDFILE")
    #expect(bench.stub.exchanges.isEmpty)
  }

  @Test("The error lists every provider that was tried, with its reason")
  func nowhere() async {
    let bench = ProviderBench(["AWS_EC2_METADATA_DISABLED": "TRUE"])
    let failures = await bench.failures()
    #expect(failures.map(\.source) == Source.allCases)
    #expect(failures.allSatisfy { !$0.isConfigured })
    let text = AWSCredentialsError(failures: failures).description
    #expect(text.hasPrefix("there are no AWS credentials: environment variables: AWS_ACCESS_KEY_ID is not set; "))
    #expect(text.hasSuffix("instance metadata: AWS_EC2_METADATA_DISABLED is true"))
  }

  @Test("A configured provider that fails ends the search")
  func configured() async {
    let bench = ProviderBench(
      ["AWS_SECRET_ACCESS_KEY": "s"],
      files: ["/home/x/.aws/credentials": "[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = s"])
    let failures = await bench.failures()
    #expect(failures.map(\.source) == [.environment])
    #expect(await bench.reason() == "AWS_ACCESS_KEY_ID is not set, but AWS_SECRET_ACCESS_KEY is")
  }

  // MARK: Container

  @Test("A container's credentials are requested at the relative URL, with the token from the file")
  func container() async throws {
    let bench = ProviderBench(
      [
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/id?x=1", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "other",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/run/token",
      ], files: ["/run/token": "SENTINEL-bearer\n"])
    bench.on("http://169.254.170.2/v2/id", .json(ProviderBench.json()))
    let credentials = try await bench.chain.credentials()
    #expect(credentials.accessKeyID == "ASIA" && credentials.sessionToken == "SENTINEL-token")
    #expect(credentials.expiration == ProviderBench.date.addingTimeInterval(3600))
    #expect(bench.stub.exchanges.map(\.target) == ["/v2/id?x=1"])
    #expect(bench.stub.exchanges.first?.fields[.authorization] == "SENTINEL-bearer")
  }

  @Test(
    "An absolute URL is used if it has TLS, is a loopback address or belongs to a container service",
    arguments: [
      ("https://credentials.example/x", true), ("http://127.0.0.1:8080/x", true), ("http://127.9.9.9/x", true),
      ("http://localhost/x", true), ("http://[::1]:80/x", true), ("http://169.254.170.2/x", true),
      ("http://169.254.170.23/x", true), ("http://[fd00:ec2::23]/x", true), ("http://credentials.example/x", false),
      ("http://169.254.170.24/x", false), ("http://127.0.0.1.evil.example/x", false), ("http://128.0.0.1/x", false),
      ("http://[fd00:ec2::24]/x", false), ("http://localhost.evil.example/x", false), ("ftp://127.0.0.1/x", false),
      ("http://user@127.0.0.1/x", false), ("nothing", false),
    ])
  func addresses(url: String, isAllowed: Bool) async {
    let bench = ProviderBench(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url])
    bench.stub.onAny(reply: .json(ProviderBench.json()))
    #expect(await bench.failures().isEmpty == isAllowed)
    #expect(bench.stub.exchanges.isEmpty != isAllowed)
  }

  @Test(
    "A response of a container's service without credentials is a typed failure",
    arguments: [
      (StubReply.status(404), "the container service responds with the status 404"),
      (
        .status(302, fields: [.location: "http://169.254.170.2/y"]),
        "the container service responds with the status 302"
      ),
      (.text("SENTINEL-secret"), "the response of the service cannot be read"),
      (.json("{}"), "the access key ID or the secret access key is missing"),
      (.json(ProviderBench.json(code: "Failed SENTINEL-secret")), "the service responds with the code unknown"),
      (
        .json(ProviderBench.json(id: "a\\nb")),
        "the access key ID or the session token contains characters that cannot be sent"
      ),
      (.json(ProviderBench.json(expiration: "soon")), "the expiration cannot be read"),
      (.json(ProviderBench.json(expiration: "2015-08-30T12:35:00Z")), ""),
      (.text(String(repeating: "x", count: 70_000)), "the request failed (contentTooLarge, status 200)"),
      (.failure(TransportError(.connectionFailed, requestState: .notSent)), "the request failed (connectionFailed)"),
    ])
  func containerFailures(reply: StubReply, reason: String) async throws {
    let bench = ProviderBench(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"])
    bench.stub.onAny(reply: reply)
    #expect(await bench.reason() == reason)
    let error = await #expect(throws: (any Error).self) { try await bench.chain.credentials() }
    #expect(!texts(of: error as Any).contains("SENTINEL"))
  }

  // MARK: Instance

  @Test("Role and credentials are requested from the metadata service with a token, which is requested first")
  func instance() async throws {
    let bench = ProviderBench()
    let base = "http://169.254.169.254/latest"
    bench.on(.put, "\(base)/api/token", .text("SENTINEL-bearer"))
    bench.on("\(base)/meta-data/iam/security-credentials/", .text("role name\nother"))
    bench.on("\(base)/meta-data/iam/security-credentials/role%20name", .json(ProviderBench.json()))
    #expect(try await bench.chain.credentials().accessKeyID == "ASIA")
    let name = try #require(HTTPField.Name("X-aws-ec2-metadata-token"))
    #expect(bench.stub.exchanges.map { $0.fields[name] } == [nil, "SENTINEL-bearer", "SENTINEL-bearer"])
    let ttl = try #require(HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds"))
    #expect(bench.stub.exchanges.first?.fields[ttl] == "21600")
  }

  @Test("If the token request fails, no further request is sent", arguments: [403, 404, 405, 500])
  func noToken(status: Int) async {
    let bench = ProviderBench()
    bench.stub.onAny(reply: .status(status))
    #expect(await bench.reason() == "the metadata service gives no token, status \(status)")
    #expect(bench.stub.exchanges.map(\.method) == [.put])
  }

  @Test("A metadata service that does not respond fails after a second")
  func unreachable() async throws {
    let bench = ProviderBench()
    bench.stub.onAny(reply: .stalled)
    let chain = bench.chain
    let call = Task { try await chain.credentials() }
    try await bench.stub.waitForExchanges(1)
    bench.clock.advance(by: .seconds(1))
    let error = await #expect(throws: AWSCredentialsError.self) { try await call.value }
    #expect(error?.failures.last?.isConfigured == false)
    #expect(error?.description.contains("more than a hop away: the request failed (timeout)") == true)
  }

  @Test("An instance without a role, a custom endpoint and the IPv6 endpoint are supported")
  func instanceAddresses() async {
    let none = ProviderBench()
    none.on(.put, "http://169.254.169.254/latest/api/token", .text("t"))
    none.on("http://169.254.169.254/latest/meta-data/iam/security-credentials/", .status(404))
    #expect(await none.failures().last?.reason == "the instance has no role")
    for (variables, host) in [
      (["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"], "[fd00:ec2::254]"),
      (["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:99"], "127.0.0.1:99"),
    ] {
      let bench = ProviderBench(variables)
      bench.stub.onAny(reply: .status(500))
      _ = await bench.failures()
      #expect(bench.stub.exchanges.first?.request.head.authority == host)
    }
  }

  @Test(
    "A custom endpoint of the metadata service needs TLS, unless it is a loopback address or the service's address",
    arguments: [
      ("https://metadata.example", true), ("http://127.0.0.1:99/", true), ("http://localhost", true),
      ("http://[::1]:80", true), ("http://169.254.169.254", true), ("http://[fd00:ec2::254]", true),
      ("http://metadata.example", false), ("http://169.254.169.253", false), ("http://169.254.169.254.example", false),
      ("http://10.0.0.1", false), ("http://user@127.0.0.1", false), ("nothing", false),
    ])
  func metadataAddresses(url: String, isAllowed: Bool) async {
    let bench = ProviderBench(["AWS_EC2_METADATA_SERVICE_ENDPOINT": url])
    bench.stub.onAny(reply: .text("SENTINEL-bearer"))
    let failure = await bench.failures().last
    #expect(bench.stub.exchanges.isEmpty != isAllowed)
    #expect(failure?.isConfigured == true && failure?.reason.contains("SENTINEL") == false)
  }

  @Test("The path of a custom endpoint of the metadata service is used")
  func metadataPath() async throws {
    let bench = ProviderBench(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:99/proxy/imds/"])
    let base = "http://127.0.0.1:99/proxy/imds/latest"
    bench.on(.put, "\(base)/api/token", .text("SENTINEL-bearer"))
    bench.on("\(base)/meta-data/iam/security-credentials/", .text("role"))
    bench.on("\(base)/meta-data/iam/security-credentials/role", .json(ProviderBench.json()))
    #expect(try await bench.chain.credentials().accessKeyID == "ASIA")
  }

  // MARK: Web identity

  @Test("The token of an identity provider is read from its file and sent without a signature")
  func webIdentity() async throws {
    let bench = ProviderBench(
      [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/run/id", "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
        "AWS_REGION": "eu-central-1", "AWS_ROLE_SESSION_NAME": "me",
      ], files: ["/run/id": "SENTINEL-bearer\n"])
    bench.on(
      .post, "https://sts.eu-central-1.amazonaws.com/",
      .status(200, content: ProviderBench.xml("AssumeRoleWithWebIdentity")))
    let credentials = try await bench.chain.credentials()
    #expect(credentials.accessKeyID == "ASIAROLE")
    #expect(credentials.expiration == ProviderBench.date.addingTimeInterval(3600))
    let sent = try #require(bench.stub.exchanges.first)
    #expect(sent.fields[.authorization] == nil)
    #expect(
      sent.text
        == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
        + "&RoleSessionName=me&WebIdentityToken=SENTINEL-bearer")
  }

  @Test("The error of a rejection by the token service contains only the rejection's code")
  func rejected() async {
    let bench = ProviderBench(
      ["AWS_WEB_IDENTITY_TOKEN_FILE": "/run/id", "AWS_ROLE_ARN": "r"], files: ["/run/id": "SENTINEL-bearer"])
    bench.stub.onAny(
      reply: .status(
        400,
        content:
          "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>SENTINEL-bearer</Message></Error></ErrorResponse>"
      ))
    #expect(
      await bench.reason()
        == "AssumeRoleWithWebIdentity was rejected with the status 400, code ExpiredTokenException")
    #expect(bench.stub.exchanges.first?.request.head.authority == "sts.amazonaws.com")
  }

  @Test("A region that would change the host is refused, and so is a token service without TLS")
  func hosts() async {
    var bench = ProviderBench(
      ["AWS_WEB_IDENTITY_TOKEN_FILE": "/run/id", "AWS_ROLE_ARN": "r", "AWS_REGION": "x.evil.example/"],
      files: ["/run/id": "t"])
    #expect(await bench.reason() == "the name of the region is invalid")
    bench.environment.variables["AWS_ENDPOINT_URL_STS"] = "http://sts.example"
    #expect(await bench.reason().hasPrefix("the address of the token service is neither https"))
    #expect(bench.stub.exchanges.isEmpty)
  }

  // MARK: Calls

  private func client(_ bench: ProviderBench, _ middleware: (any Middleware)? = nil) -> Client {
    var pipeline = Pipeline()
    if let middleware { pipeline.insert(middleware, .after(.attemptTimeout)) }
    let signing = SigningMiddleware(
      SignatureV4(region: "r", service: "s"), credentials: bench.chain, now: { ProviderBench.date })
    pipeline.insert(signing, .after(.authentication))
    var settings = ClientSettings()
    settings.runtime.clock = bench.clock
    return Client(
      environment: Environment(baseURL: "https://example.com"), pipeline: pipeline, transport: bench.stub,
      settings: settings)
  }

  @Test("A call with expired credentials is resent with newly fetched credentials")
  func expired() async throws {
    let bench = ProviderBench(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"])
    let ids = Mutex(["ASIAONE", "ASIATWO"])
    bench.stub.on { request, _ in
      request.origin?.host == "169.254.170.2"
    } reply: { _ in
      .json(ProviderBench.json(id: ids.withLock { $0.removeFirst() }))
    }
    bench.stub.on { request, _ in
      request.origin?.host == "example.com"
    } reply: { exchange in
      exchange.fields[.authorization]?.contains("ASIATWO") == true
        ? .status(204) : .status(403, content: "<Error><Code>ExpiredToken</Code></Error>")
    }
    let client = client(bench)
    try await client.send(Request<Void>.get("/"))
    try await client.send(Request<Void>.get("/"))
    #expect(ids.withLock { $0.isEmpty } && bench.stub.exchanges.count == 5)
  }

  @Test("A call waits for credentials until its attempt timeout, and the fetch continues")
  func attemptLimit() async throws {
    struct Limit: Middleware {
      func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
        var context = context
        context.limitAttempt(to: context.now.advanced(by: .milliseconds(500)))
        return try await next(request, context: context)
      }
    }
    let bench = ProviderBench(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"])
    let gate = Gate()
    bench.stub.onAny(reply: .json(ProviderBench.json()).waiting(for: gate))
    let client = client(bench, Limit())
    let call = Task { await failure { try await client.send(Request<Void>.get("/")) } }
    try await bench.stub.waitForExchanges(1)
    try await waitWhile(client.calls.all.allSatisfy { !$0.isWaitingForCredentials })
    bench.clock.advance(by: .milliseconds(500))
    let error = await call.value
    #expect(error?.code == .timeout && error?.requestState == .notSent)
    gate.open()
    #expect(try await bench.stub.waitUntilIdle().first?.outcome == .replied)
  }

  // MARK: Secrets

  @Test("Errors, traces, logs and dumps of a chain and of its calls contain no secret")
  func secrets() async throws {
    var bench = ProviderBench([
      "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SENTINEL-secret", "AWS_SESSION_TOKEN": "SENTINEL-token",
    ])
    let log = LogRecorder()
    for variables in [bench.environment.variables, ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"]] {
      bench.environment.variables = variables
      bench.environment.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "SENTINEL-bearer"
      let stub = bench.stub
      stub.onAny(reply: .status(403, content: "<Error><Code>AccessDenied</Code></Error>"))
      bench.on("http://169.254.170.2/x", .json(ProviderBench.json()))
      let chain = bench.chain
      var pipeline: Pipeline = [
        .authentication: SigningMiddleware(SignatureV4(region: "r", service: "s"), credentials: chain),
        .transport: ContentLoggingMiddleware(log.logger()),
      ]
      pipeline.insert(PrincipalBinding(), .after(.principal))
      var settings = ClientSettings()
      settings.observers = [RequestLogging(log.logger(), showsPaths: true)]
      let client = Client(
        environment: Environment(baseURL: "https://example.com"), pipeline: pipeline, transport: stub,
        settings: settings)
      let error = try #require(await failure { try await client.send(Request<Void>.get("/")) })
      #expect(error.status == 403)
      let message = try await client.message(for: Request<Void>.get("/"))
      #expect(message.head.headerFields[.authorization] != nil)
      let texts = [texts(of: error), texts(of: error.trace), texts(of: chain), texts(of: bench.environment)]
      for text in texts + [message.curl()] + log.lines.all.map(\.text) {
        for secret in ProviderBench.secrets { #expect(!text.contains(secret)) }
      }
    }
    #expect(!log.lines.all.isEmpty)
  }
}

extension CallEntry {
  fileprivate var isWaitingForCredentials: Bool {
    trace.events.contains { event in
      if case .awaitingCredentials = event.kind { return true }
      return false
    }
  }
}
