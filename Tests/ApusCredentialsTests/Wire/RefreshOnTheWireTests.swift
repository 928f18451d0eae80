import Apus
import ApusTestServer
import Testing

@Suite("Refresh requests that servers record")
struct RefreshOnTheWireTests {
  /// A server that accepts only the new access token, and redirects authenticated requests to another server.
  private struct TokenServer: Sendable {
    let other = Address()

    func reply(to request: RecordedRequest) -> Reply {
      if request.path == Authenticator.tokenPath {
        guard request.text == "refresh_token=\(Planted.refresh.secret)" else { return .status(400) }
        let (access, refresh) = (Planted.newAccess.secret, Planted.newRefresh.secret)
        return .json(#"{"access_token":"\#(access)","refresh_token":"\#(refresh)"}"#)
      }
      guard request.fields["Authorization"] == "Bearer \(Planted.newAccess.secret)" else {
        return .status(401, fields: ["WWW-Authenticate": Authenticator.refreshedBearer.challenge])
      }
      return .status(307, fields: ["Location": other.value + "/there"])
    }
  }

  @Test("A refresh sends the old refresh token once, and no token to another server", arguments: [200, 401])
  func redirected(status: Int) async throws {
    let server = TokenServer()
    let events = Log<SessionEnd>()
    let challenging = Reply.text(
      "there", status: status, fields: ["WWW-Authenticate": Authenticator.refreshedBearer.challenge])
    try await TestServer.with { _ in
      challenging
    } body: { second in
      server.other.value = second.origin
      try await TestServer.with {
        server.reply(to: $0)
      } body: { first in
        let api = first.client {
          $0.authentication = Authenticator.refreshedBearer.authentication()
          $0.onSessionEnd = events.add
        }
        let response = try await api.response(to: Request<String>.get("/a").accepting(.any))
        #expect(response.value == "there" && response.head.status.code == status)
        #expect(first.exchanges.map(\.path) == ["/a", Authenticator.tokenPath, "/a"])
        let shown: [Set<Planted>] = [[.access], [.refresh], [.newAccess]]
        #expect(first.exchanges.map(\.shown) == shown)
        #expect(first.exchanges[1].fields["Authorization"] == nil)
        #expect(second.exchanges.map(\.isAnonymous) == [true])
      }
    }
    #expect(events.all.isEmpty)
  }
}
