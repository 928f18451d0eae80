import Apus
import ApusTesting
import Synchronization
import TestSupport
import Testing

@testable import ApusOAuth

@Suite("Sign-in on another device", .timeLimit(.minutes(5)))
struct DeviceTests {
  private let issuer = FakeIssuer()

  private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  @Test("The server's interval is used, grows by 5 seconds on request, and doubles while the server cannot be reached")
  func polling() {
    var polling = DevicePolling(interval: .seconds(5), lifetime: .seconds(600), now: at(0))
    #expect(polling.next == at(5) && polling.canPoll)
    polling.record(.pending, now: at(5))
    #expect(polling.next == at(10))
    polling.record(.slowDown, now: at(10))
    #expect(polling.next == at(20))
    polling.record(.pending, now: at(20))
    #expect(polling.next == at(30))
    for (now, next) in [(30, 50), (50, 90), (90, 150), (150, 210)] as [(Int64, Int64)] {
      polling.record(.unreachable, now: at(now))
      #expect(polling.next == at(next))
    }
    polling.record(.pending, now: at(599))
    #expect(!polling.canPoll && polling.wake == at(600))
    #expect(DevicePolling(interval: nil, lifetime: .seconds(9), now: at(0)).next == at(5))
    #expect(DevicePolling(interval: .zero, lifetime: .seconds(9), now: at(0)).next == at(1))
  }

  private func signIn(_ prompts: Log<DevicePrompt> = Log()) async throws(OAuthError) -> OAuthGrant {
    try await issuer.oauth().signInOnAnotherDevice(scopes: ["a"]) { prompts.add($0) }
  }

  @Test("The client polls at the server's interval until the user has finished")
  func flow() async throws {
    issuer.state.withLock {
      $0.replies = [
        (400, #"{"error":"authorization_pending"}"#), (400, #"{"error":"slow_down"}"#), (503, "busy"),
        (400, #"{"error":"authorization_pending"}"#),
      ]
    }
    let prompts = Log<DevicePrompt>()
    let grant = Task { try await signIn(prompts) }
    for seconds in [5, 5, 10, 20, 20] as [Int64] {
      try await issuer.clock.waitForSleepers(1)
      #expect(issuer.clock.nextWake == issuer.clock.now.advanced(by: .seconds(seconds)))
      issuer.clock.advance(by: .seconds(seconds))
      if seconds == 20, issuer.forms("/token").count == 5 { break }
    }
    #expect(try await grant.value.scopes == ["a"])
    #expect(prompts.all.map(\.userCode) == ["WDJB-MJHT"])
    #expect(prompts.all.first?.page == "https://id.example.com/enter")
    #expect(issuer.forms("/token").allSatisfy { $0["device_code"] == "sentinel-of-the-device" })
  }

  @Test(
    "Polling ends if the user declines, the code expires or another error occurs",
    arguments: [("access_denied", .accessDenied), ("expired_token", .expiredToken), ("invalid_client", .invalidClient)]
      as [(String, OAuthError.Problem)])
  func refused(code: String, expected: OAuthError.Problem) async throws {
    issuer.state.withLock { $0.replies = [(400, "{\"error\":\"\(code)\"}")] }
    let error = Task { await oauthFailure { () async throws(OAuthError) in try await signIn() } }
    try await issuer.clock.waitForSleepers(1)
    issuer.clock.advance(by: .seconds(5))
    #expect(await error.value?.problem == expected)
    #expect(await error.value?.step == .deviceToken)
  }

  @Test("Polling ends with the code's lifetime, and when the task is cancelled")
  func ends() async throws {
    let task = Task { await oauthFailure { () async throws(OAuthError) in try await signIn() } }
    try await issuer.clock.waitForSleepers(1)
    task.cancel()
    #expect(await task.value?.problem == .cancelled)
    issuer.stub.on(
      .post, "/device",
      reply: .json(#"{"device_code":"d","user_code":"u","verification_uri":"https://a.example","expires_in":3}"#))
    let short = Task { await oauthFailure { () async throws(OAuthError) in try await signIn() } }
    try await issuer.clock.waitForSleepers(1)
    issuer.clock.advance(by: .seconds(3))
    #expect(await short.value?.problem == .expiredToken)
    #expect(issuer.forms("/token").isEmpty)
  }

  private func prompt(_ reply: StubReply) async throws -> (DevicePrompt, wait: Duration) {
    issuer.stub.on(.post, "/device", reply: reply)
    let prompts = Log<DevicePrompt>()
    let task = Task { await oauthFailure { () async throws(OAuthError) in try await signIn(prompts) } }
    try await issuer.clock.waitForSleepers(1)
    let wait = issuer.clock.nextWake.map { issuer.clock.now.duration(to: $0) }
    task.cancel()
    _ = await task.value
    return (try #require(prompts.all.first), try #require(wait))
  }

  @Test("Strings that the user reads contain no control, direction or other invisible characters")
  func cleaned() async throws {
    let json = #"""
      {"device_code":"d","user_code":" AB\u001b[2J\u202eCD\u200b\n ","verification_uri":"https://a.example/\u202egpj",
      "verification_uri_complete":"https://a.example/\u202e x?c=é"}
      """#
    let (prompt, _) = try await prompt(.json(json))
    #expect(prompt.userCode == "AB[2JCD")
    #expect(prompt.page == "https://a.example/%E2%80%AEgpj")
    #expect(prompt.completePage == "https://a.example/%E2%80%AE%20x?c=%C3%A9")
  }

  @Test("Times may be strings, empty members are treated as missing, and the response may be a form")
  func lenient() async throws {
    let json = #"""
      {"device_code":"d","user_code":"u","verification_uri":"","verification_url":"https://a.example/","interval":"7",
      "expires_in":"60","verification_uri_complete":""}
      """#
    let form = "device_code=d&user_code=u&verification_uri=https%3A%2F%2Fa.example%2F&interval=7&expires_in=60"
    let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded; charset=utf-8"]
    for reply in [StubReply.json(json), .status(200, fields: type, content: form)] {
      let (prompt, wait) = try await prompt(reply)
      #expect(prompt.page == "https://a.example/" && prompt.completePage == nil)
      #expect(prompt.lifetime == .seconds(60) && wait == .seconds(7))
    }
  }

  @Test(
    "A response without a required member is malformed",
    arguments: [
      "{}", #"{"device_code":"d"}"#, #"{"device_code":"d","user_code":"u"}"#,
      #"{"device_code":"d","user_code":"u","verification_uri":"http://a.example"}"#,
      #"{"device_code":"d","user_code":"\u001b\u202e","verification_uri":"https://a.example"}"#,
      #"{"device_code":"d","user_code":"","verification_uri":"https://a.example"}"#,
      #"{"device_code":"","user_code":"u","verification_uri":"https://a.example"}"#,
      #"{"device_code":"d","user_code":"u","verification_uri":""}"#,
      #"{"device_code":"d","user_code":"\#(String(repeating: "u", count: 101))","verification_uri":"https://a.example"}"#,
    ])
  func malformed(json: String) async {
    issuer.stub.on(.post, "/device", reply: .json(json))
    let error = await oauthFailure { () async throws(OAuthError) in try await signIn() }
    #expect(error?.step == .deviceAuthorization)
  }
}
