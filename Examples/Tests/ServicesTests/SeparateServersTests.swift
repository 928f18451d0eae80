import AccountsService
import AnalyticsService
import Apus
import Backend
import Testing

/// An accounts server and an analytics server, used by one app.
@Suite struct SeparateServersTests {
  @Test("Each server gets only its own credentials, and a redirect carries no credentials to another server")
  func credentials() async throws {
    try await withSite { accounts in
      try await withSite(.testing { $0.apiKey = "analytics-key" }) { analytics in
        try await accounts.signIn()
        let address = analytics.client.environment.baseURL
        let tracking = LiveAnalyticsService(baseURL: address, key: "analytics-key")
        async let account = accounts.accounts.account()
        async let tracked: Void = tracking.track(AnalyticsEvent(name: "opened-account"))
        #expect(try await account.name == "Ada")
        try await tracked
        let redirected = Request<Void>.method(.get, "/faults/redirect", query: ["to": "\(address)/"])
        try await accounts.client.send(redirected)
        let own = accounts.backend.log.rows { ["/accounts/me", "/faults/redirect"].contains($0.path) }
        #expect(own.map(\.credential) == [accounts.fingerprint, accounts.fingerprint])
        let rows = analytics.backend.log.rows
        #expect(rows.map(\.path) == ["/events", "/"])
        #expect(rows.map(\.credential) == ["api_key:\(Backend.fingerprint(of: "analytics-key"))", nil])
        #expect(rows.map(\.status) == [202, 200])
      }
    }
  }

  @Test("A wrong analytics key is an error, and no event is stored")
  func wrongKey() async throws {
    try await withSite { site in
      let tracking = LiveAnalyticsService(baseURL: site.client.environment.baseURL, key: "wrong")
      let error = await #expect(throws: CallError.self) { try await tracking.track(AnalyticsEvent(name: "x")) }
      #expect(error?.status == 403)
    }
  }
}
