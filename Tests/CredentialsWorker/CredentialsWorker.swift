import Apus
import ApusCore
import ApusCredentials
import ApusNIO
import Foundation
import Synchronization

/// A process that shares a credentials file with a test, which controls it line by line.
///
///     CredentialsWorker call FILE KEY URL         makes one call
///     CredentialsWorker call-slowly FILE KEY URL  makes one call; after a refresh, prints `refreshed` and waits for a
///                                                 line before it stores the new tokens
///     CredentialsWorker call-together FILE KEY URL  makes one call; prints `refreshing` before a refresh, or `waits`
///                                                 if it must wait for another process first
///     CredentialsWorker lock FILE KEY             acquires the lease, prints `locked` and waits for a line
///     CredentialsWorker store FILE KEY            stores one token
///     CredentialsWorker store-many FILE KEY       stores one token after the other, and prints the number of each
///     CredentialsWorker cookies FILE KEY COUNT    makes calls, each of which sets the cookie to its number, and prints
///                                                 the number; then signs out and prints `signed out`; then makes call 0
@main
struct CredentialsWorker {
  private let store: FileCredentialsStore
  private let verb: String

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { return printLine("which file, and which key?") }
    let clock: any MonotonicClock = arguments[1] == "call-together" ? ReportingClock() : SystemClock()
    let worker = CredentialsWorker(
      store: FileCredentialsStore(at: arguments[2], key: .file(arguments[3]), clock: clock), verb: arguments[1])
    do {
      if arguments[1] == "cookies" {
        return try await setCookies(arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0, arguments[2], arguments[3])
      }
      try await worker.work(baseURL: arguments.count > 4 ? arguments[4] : "http://127.0.0.1")
    } catch {
      printLine("error \(error)")
    }
  }

  private func work(baseURL: String) async throws {
    switch verb {
    case "call", "call-slowly", "call-together": try await call(baseURL)
    case "lock":
      try await store.withLock {
        Self.printLine("locked")
        _ = readLine()
      }
    case "store": try await store.set(.token("0"))
    case "store-many":
      for number in 1...100_000 {
        try await store.set(.token(Secret("token-\(number)")))
        Self.printLine("\(number)")
      }
    default: Self.printLine("what is \(verb)?")
    }
  }

  private static func setCookies(_ count: Int, _ file: String, _ key: String) async throws {
    let jar = try CookieJar(file: file, key: .file(key), account: "test")
    printLine("opened")
    let client = Client(baseURL: "https://api.example.com", transport: CookieSetter()) { $0.cookies = jar }
    for number in Array(1...count) + [0] {
      if number == 0 {
        try await client.signOut()
        printLine("signed out")
      }
      let response = try await client.response(to: Request<Void>.method(.get, "/\(number)"))
      let isSaved = !response.trace.events.contains { "\($0.kind)".contains("not saved") }
      printLine(isSaved ? "\(number)" : "error not saved")
    }
  }

  private func call(_ baseURL: String) async throws {
    let (isSlow, reportsRefresh) = (verb == "call-slowly", verb == "call-together")
    let url = try BaseURL(baseURL)
    let client = Client(baseURL: url, transport: NIOTransport()) {
      // Another process may have the lease for long, and a test may delay a response.
      $0.attemptTimeout = nil
      $0.authentication = .bearer(store) { refresh in
        if reportsRefresh { Self.printLine("refreshing") }
        let tokens = try await refresh.send(.newTokens(for: refresh.token))
        if isSlow {
          Self.printLine("refreshed")
          _ = readLine()
        }
        return tokens
      }
    }
    Self.printLine("ready")
    let response = try await client.send(Request<String>.get("/me"))
    Self.printLine("response \(response)")
  }

  /// Prints a line without buffering, unlike `print`, because the test waits for each line.
  fileprivate static func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}

/// A clock that reports its first sleep, which happens only while another process holds a lock.
private final class ReportingClock: MonotonicClock {
  private let clock = SystemClock()
  private let hasReported = Mutex(false)

  var now: MonotonicInstant { clock.now }

  func sleep(until instant: MonotonicInstant) async throws {
    let isFirst = hasReported.withLock { hasReported in
      defer { hasReported = true }
      return !hasReported
    }
    if isFirst { CredentialsWorker.printLine("waits") }
    try await clock.sleep(until: instant)
  }
}

extension Endpoint where Self == Request<Tokens> {
  fileprivate static func newTokens(for token: Secret) -> Self {
    .post("/token", content: .form(["refresh_token": token.value]))
  }
}

/// A transport whose responses set a cookie to the path of the request.
private struct CookieSetter: Transport {
  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var head = HTTPResponse(status: .noContent)
    head.headerFields[.setCookie] = "number=\(request.target.dropFirst()); Path=/"
    return ResponseMessage(head: head)
  }
}
