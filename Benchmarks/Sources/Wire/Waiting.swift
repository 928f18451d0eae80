import Apus
import ApusNIO
import Foundation
import Measuring
import Samples

/// A measurement of the memory of calls that wait for a connection, compared with a suspended task. Each measurement
/// runs in a new process, whose heap has no free blocks to reuse.
enum Waiting {
  static func compare(calls: Int) throws {
    let server = try Nginx(mebibytes: 16)
    defer { server.stop() }
    let idle = try One.figures(of: ["kept", "tasks", "\(server.port)", "\(calls)"])
    let waiting = try One.figures(of: ["kept", "calls", "\(server.port)", "\(calls)"])
    print("\(calls) calls waiting for one connection")
    report("a task that waits, bytes", idle, digits: 0)
    report("a call that waits, task included, bytes", waiting, digits: 0)
    report("  more than the task", zip(waiting, idle).map { $0 - $1 }, digits: 0)
  }

  /// Prints the bytes of each task (`tasks`) or call (`calls`); `PORT COUNT` follow.
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 3, let port = Int(arguments[1]), let count = Int(arguments[2]) else { return }
    var options = NIOTransport.Options()
    options.maximumConnectionsPerOrigin = 1
    let api = try Typed(port: port, transport: NIOTransport(options: options)).api
    _ = try await api.send(Request<Person>.get("/users/\(7)"))
    guard arguments[0] == "calls" else {
      return print(try await growth(of: count) { try await Task.sleep(for: .seconds(3600)) })
    }
    // A stalled upload occupies the only connection. A streamed response would not occupy it, because the connection
    // limit does not count streams.
    let endless = ContentStream(isReplayable: false) {
      {
        try await Task.sleep(for: .seconds(3600))
        return nil
      }
    }
    let upload = Task {
      try await api.send(Request<Void>.post("/up", content: .stream(endless)).timeout(.seconds(3600)))
    }
    while api.calls.all.first?.phase != .connecting { try await Task.sleep(for: .milliseconds(20)) }
    try await Task.sleep(for: .seconds(1))
    let each = try await growth(of: count, registeredAt: api) {
      _ = try await api.send(Request<Person>.get("/users/\(7)").timeout(.seconds(3600)))
    }
    print(each)
    upload.cancel()
    _ = await upload.result
  }

  /// Returns the resident bytes that each of `count` waiting tasks adds, then cancels the tasks.
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
