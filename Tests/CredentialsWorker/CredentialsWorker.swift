import Apus
import ApusCore
import ApusCredentials
import ApusNIO
import Foundation
import Synchronization

/// A process that shares a credentials file with a test, which controls it line by line.
///
///     CredentialsWorker call FILE KEY URL         makes one call
///     CredentialsWorker call-slowly FILE KEY URL  the same; before it keeps new tokens it says `asked` and waits
///     CredentialsWorker call-together FILE KEY URL  the same as `call`; it says `asks` before it asks for new tokens,
///                                                 and `waits` when it waits for another process first
///     CredentialsWorker hold FILE KEY             takes the lease, says `held` and waits
///     CredentialsWorker keep FILE KEY             keeps one token
///     CredentialsWorker keep-on FILE KEY          keeps one token after the other, and says the number of each
///
/// "Waits" means that it waits for a line.
@main
struct CredentialsWorker {
  private let source: FileCredentialsStore
  private let verb: String

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { return say("which file, and which key?") }
    let clock: any MonotonicClock = arguments[1] == "call-together" ? TellingClock() : SystemClock()
    let worker = CredentialsWorker(
      source: FileCredentialsStore(at: arguments[2], key: .file(arguments[3]), clock: clock), verb: arguments[1])
    do {
      try await worker.work(baseURL: arguments.count > 4 ? arguments[4] : "http://127.0.0.1")
    } catch {
      say("error \(error)")
    }
  }

  private func work(baseURL: String) async throws {
    switch verb {
    case "call", "call-slowly", "call-together": try await call(baseURL)
    case "hold":
      try await source.withLock {
        Self.say("held")
        _ = readLine()
      }
    case "keep": try await source.set(.token("0"))
    case "keep-on":
      for number in 1...100_000 {
        try await source.set(.token(Secret("token-\(number)")))
        Self.say("\(number)")
      }
    default: Self.say("what is \(verb)?")
    }
  }

  private func call(_ baseURL: String) async throws {
    let (isSlow, isTelling) = (verb == "call-slowly", verb == "call-together")
    let url = try BaseURL(baseURL)
    let client = Client(baseURL: url, transport: NIOTransport()) {
      // Another process may hold the lease for long, and a test a response.
      $0.attemptTimeout = nil
      $0.authentication = .bearer(source) { refresh in
        if isTelling { Self.say("asks") }
        let tokens = try await refresh.send(.newTokens(for: refresh.token))
        if isSlow {
          Self.say("asked")
          _ = readLine()
        }
        return tokens
      }
    }
    Self.say("ready")
    let answer = try await client.send(Request<String>.get("/me"))
    Self.say("answer \(answer)")
  }

  /// Unbuffered, unlike `print`: the test waits for each line.
  fileprivate static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}

/// A clock that reports its first sleep, which happens only while another process holds a lock.
private final class TellingClock: MonotonicClock {
  private let clock = SystemClock()
  private let hasSaid = Mutex(false)

  var now: MonotonicInstant { clock.now }

  func sleep(until instant: MonotonicInstant) async throws {
    let isFirst = hasSaid.withLock { hasSaid in
      defer { hasSaid = true }
      return !hasSaid
    }
    if isFirst { CredentialsWorker.say("waits") }
    try await clock.sleep(until: instant)
  }
}

extension Endpoint where Self == Request<Tokens> {
  fileprivate static func newTokens(for token: Secret) -> Self {
    .post("/token", content: .form(["refresh_token": token.value]))
  }
}
