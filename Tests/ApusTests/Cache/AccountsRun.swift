import Apus
import ApusTesting
import TestSupport

@testable import ApusMiddleware

/// Random steps of an app whose accounts change.
struct AccountsRun {
  private typealias Call = AccountsApp.Call

  /// A call whose response arrives later.
  private struct Late {
    let call: Call
    let caller: Caller
    let task: Task<AccountsApp.Reply, Never>
  }

  private let place: CacheAccountFuzzTests.Place
  private let path: String
  private let server = AccountsServer()
  private let clock = ManualClock(.manual)
  private var random: SeededGenerator
  private var app: AccountsApp
  /// The session of the account and of each jar; empty: signed out.
  private var account = ""
  private var cookies: [AccountsApp.Role: String] = [:]
  private var sessions = 0
  /// Whether a call with credentials has used the present cache.
  private var isBound = false
  private var pending: [Late] = []
  private(set) var (steps, hits, late, switches) = (0, 0, 0, 0)
  /// The descriptions of responses that reached the wrong caller.
  private(set) var faults: [String] = []

  init(_ place: CacheAccountFuzzTests.Place, _ path: String, seed: UInt64) {
    (self.place, self.path, random) = (place, path, SeededGenerator(seed: seed))
    app = AccountsApp(Self.cache(place, path, ""), MemoryCredentialsStore(), at: server, AccountsApp.Way(clock: clock))
  }

  private static func cache(
    _ place: CacheAccountFuzzTests.Place, _ path: String, _ account: String
  ) -> ResponseCache {
    switch place {
    case .memory: ResponseCache()
    case .folder: ResponseCache(.folder(path))
    case .folderOfAccount: ResponseCache(.folder(path), account: account.isEmpty ? nil : name(of: account))
    }
  }

  private static func name(of account: String) -> String { String(account.prefix { $0 != "-" }) }

  /// Performs a random step.
  mutating func step() async throws {
    steps += 1
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<56: await check(randomCall())
    case 56..<66: try await callsAtOnce()
    case 66..<74: try await startLate()
    case 74..<81: await endLate()
    case 81..<89:
      await check(Call())
      try await changeAccount()
      await check(Call(role: .sameAccount))
    case 89..<93: try await changeCookies()
    case 93..<95: clock.advance(by: .seconds(Int.random(in: 1...30, using: &random)))
    case 95..<96: restart(keepingTokens: true)
    case 96..<97: restart(keepingTokens: false)
    case 97..<98: await app.client(.open).invalidate("any")
    case 98..<99: _ = try? await app.client(.account).send(Request<Void>.post("/fresh"))
    default: await app.cache.removeAll()
    }
  }

  /// Ends all calls.
  mutating func finish() async throws {
    while !pending.isEmpty { await endLate() }
    for role in AccountsApp.Role.allCases { await check(Call(role: role)) }
  }

  // MARK: Calls

  private func caller(of call: Call) -> Caller {
    var caller = call.own
    switch call.role {
    case .account, .sameAccount: caller.account = account
    case .key: caller.key = "k1"
    case .otherKey: caller.key = "k2"
    case .queryKey: caller.key = "k3"
    case .cookies, .otherCookies: caller.cookie = cookies[call.role] ?? ""
    case .open: break
    }
    return caller
  }

  private mutating func randomCall() -> Call {
    var call = Call()
    // Half of the calls are those of the account.
    let roles = AccountsApp.Role.allCases + [.account, .account, .account, .sameAccount, .sameAccount]
    call.role = roles.randomElement(using: &random) ?? .open
    call.path = AccountsServer.paths.randomElement(using: &random) ?? ""
    call.reading =
      ([.buffered, .buffered, .coalesced, .streamed] as [Call.Reading]).randomElement(using: &random) ?? .buffered
    func value(_ name: String) -> String { "\(name)\(Int.random(in: 1...2, using: &random))" }
    switch Int.random(in: 0..<16, using: &random) {
    case 0: call.own.tenant = value("t")
    case 1: call.own.token = value("s")
    case 2: call.own.parameter = value("q")
    case 3: (call.own.tenant, call.own.parameter) = (value("t"), value("q"))
    case 4: call.policy = .reload
    case 5: call.policy = .allowStale(.seconds(600))
    case 6: call.policy = .onlyIfCached
    default: break
    }
    return call
  }

  private mutating func check(_ call: Call) async {
    let reply = await app.perform(call)
    if call.role == .account || call.role == .sameAccount, !account.isEmpty { isBound = true }
    check(reply, to: call, from: [caller(of: call)])
  }

  /// Checks that a response is one to these credentials.
  private mutating func check(_ reply: AccountsApp.Reply, to call: Call, from callers: [Caller], mayFail: Bool = false)
  {
    if reply.isHit { hits += 1 }
    if reply.hasStoredCookie { faults.append("\(call): a stored cookie") }
    if let error = reply.error {
      let isExpected = mayFail && error.code == .refused || call.policy == .onlyIfCached && error.status == 504
      if !isExpected { faults.append("\(call): \(error)") }
      return
    }
    let isMemory = place == .memory
    let isOwn =
      reply.caller?.isMade(of: callers) { own, other in
        // In a folder, a later session of the account may use what an earlier one has stored.
        isMemory ? own == other : Self.name(of: own) == Self.name(of: other)
      } ?? false
    if !isOwn { faults.append("step \(steps), \(call): expected \(callers), got \(String(describing: reply.caller))") }
  }

  private mutating func callsAtOnce() async throws {
    let base = randomCall()
    let calls = (0..<6).map { number in
      var call = number == 0 ? base : randomCall()
      // Equal URLs, so that calls would share an exchange.
      if number < 4 { call.path = base.path }
      return call
    }
    let before = calls.map { caller(of: $0) }
    let app = app
    async let replies = withTaskGroup(of: (Int, AccountsApp.Reply).self) { group in
      for (index, call) in calls.enumerated() { group.addTask { (index, await app.perform(call)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let isChanging = Bool.random(using: &random)
    if isChanging {
      if Bool.random(using: &random) { await Task.yield() }
      try await changeAccount()
    }
    for (index, reply) in await replies {
      check(reply, to: calls[index], from: [before[index], caller(of: calls[index])], mayFail: isChanging)
    }
  }

  private mutating func startLate() async throws {
    guard pending.count < 4 else { return await endLate() }
    var call = randomCall()
    late += 1
    call.gate = "\(late)"
    let (app, finished, count) = (app, Gate(), server.count)
    let task = Task { [call] in
      let reply = await app.perform(call)
      finished.open()
      return reply
    }
    pending.append(Late(call: call, caller: caller(of: call), task: task))
    try await waitWhile(server.count == count && !finished.isOpen)
  }

  private mutating func endLate() async {
    guard !pending.isEmpty else { return }
    let call = pending.remove(at: Int.random(in: pending.indices, using: &random))
    server.gate(call.call.gate ?? "").open()
    check(await call.task.value, to: call.call, from: [call.caller], mayFail: true)
  }

  // MARK: Accounts

  /// Signs in, signs out, changes the account, or replaces its tokens.
  private mutating func changeAccount() async throws {
    let signsOut = Int.random(in: 0..<3, using: &random) == 0
    if place == .folderOfAccount, !isBound, !account.isEmpty, !signsOut {
      // A folder notices the change by the calls of both accounts.
      await check(Call())
    }
    switches += 1
    switch Int.random(in: 0..<8, using: &random) {
    case _ where signsOut:
      try await app.client(.account).signOut()
      account = ""
    case 0..<2:
      app.tokens.clear()
      account = ""
    case 2..<4 where !account.isEmpty:
      app.tokens.set(.token(Secret("\(account).\(steps)")), account: account)
    default:
      sessions += 1
      let names = ["ann", "bob", "cid"].filter { $0 != Self.name(of: account) }
      account = "\(names.randomElement(using: &random) ?? "")-\(sessions)"
      app.tokens.set(.token(Secret(account)), account: account)
      // Otherwise the app keeps the cache for the account that follows.
      if Bool.random(using: &random) { restart(keepingTokens: true) }
    }
  }

  private mutating func changeCookies() async throws {
    let role = Bool.random(using: &random) ? AccountsApp.Role.cookies : .otherCookies
    let jar = app.jars[role == .cookies ? 0 : 1]
    if cookies[role] == nil {
      sessions += 1
      // A session of a jar lasts from one clearing to the next.
      jar.removeAll()
      try await app.signIn("c\(sessions)", role)
      cookies[role] = "c\(sessions)"
    } else {
      if Bool.random(using: &random) {
        try await app.client(role).signOut()
      } else {
        jar.removeAll()
      }
      cookies[role] = nil
    }
  }

  /// Continues with a new cache over the same folder, as after a start of the app. Calls in flight continue with the
  /// cache in which they began.
  private mutating func restart(keepingTokens: Bool) {
    let tokens = keepingTokens ? app.tokens : MemoryCredentialsStore()
    if !keepingTokens, !account.isEmpty { tokens.set(.token(Secret(account)), account: account) }
    app = AccountsApp(
      Self.cache(place, path, account), tokens, at: server,
      AccountsApp.Way(clock: clock, isBehindMiddleware: Bool.random(using: &random)))
    (cookies, isBound) = ([:], false)
  }
}
