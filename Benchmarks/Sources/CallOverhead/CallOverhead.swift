import Apus
import ApusTesting
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A program that measures the cost of a call above its transport, which responds immediately.
///
///     CallOverhead [filter]            only the rows whose names contain the text
///     CallOverhead "under control"     only the comparison of the control middlewares
@main
struct CallOverhead {
  static func main() async throws {
    try await Task.detached { try await run() }.value
  }

  @concurrent static func run() async throws {
    print("operation                                            ns   allocations")
    try await describing()
    try await calling()
    try await controlling()
    print("on one thread, caller and call")
    let thread = OneThread()
    try await Task(executorPreference: thread) { try await onOneThread(thread) }.value
    if isWanted("under control") { try await Control.compare() }
  }

  static func isWanted(_ name: String) -> Bool {
    CommandLine.arguments.dropFirst().first.map { name.contains($0) } ?? true
  }

  static func onOneThread(_ thread: OneThread) async throws {
    let request: Request<Void> = .method(.get, "/users/\(7)/friends")
    let api = client(NoTransport(content: .empty)) { $0.settings.runtime.executor = thread }
    try await row("Task and its value there") { await Task(executorPreference: thread) {}.value }
    try await row("call, default pipeline there") { try await api.send(request) }
  }

  static func row(_ name: String, _ operation: () async throws -> Void) async throws {
    guard isWanted(name) else { return }
    let cost = try await measure(operation)
    let padding = String(repeating: " ", count: max(1, 44 - name.count))
    print("\(name)\(padding)\(fixed(cost.nanoseconds, 10))   \(fixed(cost.allocations, 8))")
  }

  static func describing() async throws {
    let id = 7
    let query: Query = ["page": 2, "text": "a b", "all": true]
    try await row("describe /users/{}/friends") { let _: Request<Void> = .method(.get, "/users/\(id)/friends") }
    try await row("create a request without path values") { let _: Request<Void> = .method(.get, "/users/me/friends") }
    try await row("create a request with three query parameters") {
      let _: Request<Void> = .method(.get, "/search", query: ["page": 2, "text": "a b", "all": true])
    }
    let head = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/search")
    try await row("encode three query parameters") {
      var message = RequestMessage(head: head)
      try message.addQuery(query)
    }
    let bare = Client(environment: environment, transport: NoTransport(content: .empty))
    let plain: Request<Void> = .method(.get, "/users/\(id)/friends")
    try await row("message(for:): task and message") { _ = try await bare.message(for: plain) }
    let asked: Request<Void> = .method(.get, "/users/\(id)/friends", query: query)
    try await row("message(for:), three query parameters") { _ = try await bare.message(for: asked) }
  }

  static func calling() async throws {
    let none = NoTransport(content: .empty)
    let request: Request<Void> = .method(.get, "/users/\(7)/friends")
    try await row("Task and its value") { await Task.detached {}.value }
    let bare = Client(environment: environment, transport: none)
    try await row("call, no middleware") { try await bare.send(request) }
    let api = client(none)
    try await row("call, default pipeline") { try await api.send(request) }
    let unmoved = client(none) { $0.redirects = .none }
    try await row("call, redirects not followed") { try await unmoved.send(request) }
    for count in [1, 8] {
      let more = client(none) {
        $0.customizePipeline = { pipeline in for _ in 0..<count { pipeline.insert(PassOn(), .before(.transport)) } }
      }
      try await row("call, default pipeline and \(count) more") { try await more.send(request) }
    }
    let observed = client(none) { $0.observers = [Ignoring()] }
    try await row("call, trace observed") { try await observed.send(request) }
    let tokens = MemoryCredentialsStore(token: "abcdefghijklmnopqrstuvwxyz")
    let signed = client(none) { $0.authentication = .bearer(tokens) }
    try await row("call, bearer token") { try await signed.send(request) }
    let json = client(NoTransport(content: ResponseContent(Data(#"{"id":7,"name":"Apus"}"#.utf8))))
    let typed: Request<Small> = .get("/users/\(7)")
    try await row("call, small JSON decoded") { _ = try await json.send(typed) }
  }

  static func controlling() async throws {
    let request: Request<Void> = .method(.get, "/users/\(7)/friends")
    let tagged = request.tag("images").id("one", onDuplicate: .cancelPrevious)
    let api = client(NoTransport(content: .empty))
    try await row("call with id and tag") { try await api.send(tagged) }
    let gate = Gate()
    // All calls run concurrently, so that no queued call times out.
    let busy = client(HeldTransport(gate: gate)) {
      $0.scheduler = Scheduler(ConcurrencyLimits(global: 1000, perOrigin: 1000))
    }
    let held = (0..<1000).map { number in
      Task { try await busy.send(request.id(CallID("\(number)"), onDuplicate: .allow)) }
    }
    for _ in 0..<1_000_000 where busy.calls.count < 1000 { await Task.yield() }
    try await row("find one of 1,000 calls by its id") { _ = busy.calls.calls(id: "500") }
    try await row("list 1,000 calls") { _ = busy.calls.all }
    gate.open()
    for task in held { try await task.value }
  }

  static let environment = Environment(baseURL: "https://api.example.com/v1")

  static func client(_ transport: any Transport, _ configure: (inout Configuration) -> Void = { _ in }) -> Client {
    Client(baseURL: "https://api.example.com/v1", transport: transport, configure: configure)
  }

  static func fixed(_ number: Double, _ width: Int) -> String {
    let text = "\(Int((number * 10).rounded()) / 10).\(Int((number * 10).rounded()) % 10)"
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
