import Apus
import ApusFiles
import ApusTesting
import Foundation
import Synchronization
import Testing

@testable import ApusCredentials
@testable import ApusMiddleware

extension CredentialsFolder {
  /// Opens the jar of the file, as another process would.
  func jar(
    account: String = "ada", key: CredentialsFileKey? = nil,
    reached: @escaping @Sendable (Folder.Step) throws -> Void = { _ in }
  ) throws -> CookieJar {
    let clocks = Clocks(clock: clock, date: { [wall] in wall.date })
    let dependencies = FileCredentialsStore.Dependencies(clocks: clocks, rounds: 3, reached: reached)
    return try CookieJar(CookieFile(at: file, key: key ?? .file(keyFile), account: account, dependencies))
  }

  /// Returns the problem because of which the jar cannot be opened; `nil` if it can.
  func problem(account: String = "ada", key: CredentialsFileKey? = nil) async -> CredentialsStoreError.Problem? {
    await reason { _ = try jar(account: account, key: key) }
  }

  /// The names of all files in the folder, except of the key.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != "key" }.sorted()
  }
}

extension CookieJar {
  /// Whether the jar has the number and the cookies of another jar. The order in which they were sent may differ.
  func hasContent(of other: CookieJar) -> Bool {
    func content(_ jar: CookieJar) -> [Cookie] {
      jar.saved.items.compactMap { item in
        var cookie = Cookie(item)
        cookie?.lastAccess = 0
        return cookie
      }
    }
    return number == other.number && content(self) == content(other)
  }
}

/// A server whose responses set cookies, and its client.
struct CookieServer {
  let stub = StubTransport()
  let jar: CookieJar
  let api: Client

  /// - Parameter baseURL: the URL of the server.
  init(_ jar: CookieJar, _ baseURL: BaseURL = "https://api.example.com") {
    self.jar = jar
    api = Client(baseURL: baseURL, transport: stub) {
      $0.cookies = jar
      $0.retry = .none
    }
    stub.onAny(reply: .status(204))
  }

  /// Makes a call whose response sets a cookie. Returns the notes on cookies in its trace.
  @discardableResult
  func set(_ cookie: String) async throws -> [String] {
    stub.on(.get, "/set", reply: .status(204, fields: ["Set-Cookie": cookie]))
    let response = try await api.response(to: Request<Void>.method(.get, "/set"))
    return response.trace.events.map { "\($0.kind)" }.filter { $0.contains("cookies") }
  }

  /// Makes a call. Returns its field `Cookie`; empty without cookies.
  func sent(to path: String = "/any") async throws -> String {
    try await api.send(Request<Void>.method(.get, RequestPath(stringLiteral: path)))
    return stub.exchanges.last?.field("Cookie") ?? ""
  }
}

/// A disk that counts the writes of the file, and fails at a chosen step.
final class CookieDisk: Sendable {
  struct Full: Error {}

  private let state = Mutex<(failing: Folder.Step?, writes: Int)>((nil, 0))

  /// The number of writes that reached the file.
  var writes: Int { state.withLock { $0.writes } }

  func fail(at step: Folder.Step?) {
    state.withLock { $0.failing = step }
  }

  @Sendable func reached(_ step: Folder.Step) throws {
    try state.withLock { state in
      if state.failing == step { throw Full() }
      if step == .replaced { state.writes += 1 }
    }
  }
}
