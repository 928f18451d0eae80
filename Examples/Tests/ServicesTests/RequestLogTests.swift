import AccountsService
import Apus
import Backend
import FriendsService
import Logging
import Synchronization
import Testing

/// The request log of an app, on a real server.
@Suite struct RequestLogTests {
  private final class Lines: Sendable {
    private let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    func add(_ line: String) { list.withLock { $0.append(line) } }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
      lines.add("\(event.level) \(event.message) \(facts.joined(separator: " "))")
    }
  }

  @Test("The log contains method, URL and status of every call, and no password and no token")
  func log() async throws {
    try await withSite { site in
      try await site.signIn()
      let lines = Lines()
      let logger = Logger(label: "test") { _ in Handler(lines: lines) }
      let tokens = MemoryCredentialsStore()
      let client = Client(baseURL: site.client.environment.baseURL) {
        $0.authentication = .accounts(tokens)
        $0.logging = RequestLogging(logger)
        $0.customizePipeline = { $0.insert(ContentLoggingMiddleware(logger), .before(.transport)) }
      }
      let accounts = LiveAccountsService(client: client, credentials: tokens)
      try await accounts.signIn(email: "ada@example.com", password: "correct horse")
      await #expect(throws: CallError.self) { try await LiveFriendsService(client: client).remove(999_999) }
      let all = lines.all
      #expect(all.contains { $0.hasPrefix("info request ") && $0.contains("method=POST") && $0.contains("/sessions") })
      #expect(all.contains { $0.hasPrefix("info response ") && $0.contains("status=201") })
      #expect(all.contains { $0.hasPrefix("warning failed ") && $0.contains("status=404") })
      guard case .tokens(let stored)? = tokens.current().credential else {
        Issue.record("no tokens are stored")
        return
      }
      for secret in ["correct horse", stored.access.value, stored.refresh?.value ?? ""] {
        #expect(!all.contains { $0.contains(secret) })
      }
      #expect(all.contains { $0.contains("request content") && $0.contains("ada@example.com") })
    }
  }
}
