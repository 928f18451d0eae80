import Apus
import ApusNIO
import Foundation

/// Calls that wait for a connection: what each keeps in memory, beside a task that only waits.
enum Waiting {
  static func measure(calls: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    var options = NIOTransport.Options()
    options.connectionsPerOrigin = 1
    let api = try Typed(port: server.port, transport: NIOTransport(options: options)).api
    _ = try await api.send(Request<Small>.get("/users/\(7)"))

    let idle = try await growth(of: calls) { try await Task.sleep(for: .seconds(3600)) }
    try await api.withResponse(to: Request<Content>.get("/users/\(7)")) { _ in
      // The one connection is in use for as long as this runs.
      let waiting = try await growth(of: calls, registeredAt: api) {
        _ = try await api.send(Request<Small>.get("/users/\(7)"))
      }
      print("\(calls) calls waiting for one connection")
      Table.report("a task that waits, bytes", [idle], digits: 0)
      Table.report("a call that waits, task included, bytes", [waiting], digits: 0)
      Table.report("  beyond the task", [waiting - idle], digits: 0)
    }
  }

  /// Bytes of resident memory that each of so many tasks adds while it waits; they are cancelled then.
  private static func growth(
    of count: Int, registeredAt client: Client? = nil, _ work: @escaping @Sendable () async throws -> Void
  ) async throws -> Double {
    let before = resident()
    let tasks = (0..<count).map { _ in Task { try? await work() } }
    while let client, client.calls.count < count { try await Task.sleep(for: .milliseconds(20)) }
    try await Task.sleep(for: .seconds(1))
    let after = resident()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    return Double(after - before) / Double(count)
  }

  private static func resident() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
  }
}
