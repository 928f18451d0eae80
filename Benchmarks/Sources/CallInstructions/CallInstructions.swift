import Apus
import HTTPTypes
import MallocCounter
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A program that makes calls above a transport that responds immediately, or over sockets. All calls of a row run on
/// one thread, so that callgrind can count their instructions.
///
///     CallInstructions ROW COUNT     makes a number of calls of a row, and prints the allocations of the process
///     CallInstructions rows          prints the names of the rows
@main
struct CallInstructions {
  private static let rows = [
    "task", "empty", "object", "http1", "http2", "unsafe", "unsafe-cache", "no-cache", "miss", "store", "hit",
  ]

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let row = arguments.first, rows.contains(row), let count = arguments.dropFirst().first.flatMap({ Int($0) })
    else {
      for row in rows { print(row) }
      return
    }
    switch row {
    case "http1": try SocketCalls.run(.http1, count)
    case "http2": try SocketCalls.run(.http2, count)
    default: runOnMainThread(row, count)
    }
    print(malloc_counter_count())
  }

  private static func runOnMainThread(_ row: String, _ count: Int) {
    let thread = MainThread()
    Task(executorPreference: thread) {
      do {
        try await repeating(row, count, on: thread)
      } catch {
        print(error)
      }
      thread.stop()
    }
    thread.run()
  }

  private static func repeating(_ row: String, _ count: Int, on thread: MainThread) async throws {
    let object = ResponseContent(Data(Small.text.utf8))
    var transport = Immediate(content: row == "empty" ? .empty : object)
    switch row {
    // The fields of a small response, as servers send them.
    case "no-cache", "miss": transport.fields = Immediate.fields("no-store")
    case "store", "hit": transport.fields = Immediate.fields("max-age=100000000")
    default: break
    }
    let api = Client(baseURL: "https://api.example.com/v1", transport: transport) {
      $0.settings.runtime.executor = thread
      if ["unsafe-cache", "miss", "store", "hit"].contains(row) { $0.cache = ResponseCache() }
    }
    switch row {
    case "unsafe", "unsafe-cache":
      let request: Request<Small> = .post("/users/\(7)")
      for _ in 0..<count { _ = try await api.send(request) }
    case "store":
      for number in 0..<count { _ = try await api.send(Request<Small>.get("/users/\(number)")) }
    case "task":
      for _ in 0..<count { await Task(executorPreference: thread) {}.value }
    case "empty":
      let request: Request<Void> = .method(.get, "/users/\(7)/friends")
      for _ in 0..<count { try await api.send(request) }
    default:
      let request: Request<Small> = .get("/users/\(7)")
      for _ in 0..<count { _ = try await api.send(request) }
    }
  }
}

/// A small JSON object.
struct Small: Codable, Sendable {
  static let text = #"{"id":7,"name":"Apus"}"#
  let id: Int
  let name: String
}

private struct Immediate: Transport {
  let content: ResponseContent
  var fields = HTTPFields()

  static func fields(_ directives: String) -> HTTPFields {
    [
      .server: "x", .date: "Sat, 28 Nov 2026 04:00:00 GMT", .contentType: "application/json", .contentLength: "22",
      .cacheControl: directives,
    ]
  }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok, headerFields: fields), content: content)
  }
}

/// An executor that runs all jobs where ``run()`` is called. callgrind cannot run programs whose tasks run on the
/// threads of the system's pool.
private final class MainThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let isStopped = Atomic(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  func run() {
    while !isStopped.load(ordering: .relaxed) {
      let batch = jobs.withLock { jobs in
        defer { jobs.removeAll(keepingCapacity: true) }
        return jobs
      }
      for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
