import ApusCore
import ApusTestServer
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ApusNIO

/// Tests the executor on which a call continues after its response has arrived.
@Suite("Continuation of calls")
struct ContinuationTests {
  @Test("A call with a small response continues on the event loop where the response arrived")
  func small() async throws {
    // In rare cases a call is resumed before it has suspended, and then stays on its thread.
    #expect(try await placesOfCalls(bytes: 16 << 10, calls: 50).contains(true))
  }

  @Test("A call with a large response continues on the global pool")
  func large() async throws {
    #expect(!(try await placesOfCalls(bytes: 16 << 10 + 1, calls: 20).contains(true)))
  }

  @Test("The closure that reads a streamed response runs on the global pool")
  func streamed() async throws {
    try await TestServer.with { _ in
      .text("here")
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        for _ in 0..<20 {
          let isOnLoop = try await client.withResponse(to: message()) { response in
            _ = try await response.next()
            return MultiThreadedEventLoopGroup.currentEventLoop != nil
          }
          #expect(!isOnLoop)
        }
      }
    }
  }

  @Test("While one call is about to continue on a loop, other calls continue on the global pool")
  func oneAtATime() async throws {
    let executor = ContinuationExecutor()
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    let tasks = try await loop.submit {
      var tasks: [Task<Bool, Never>] = []
      for _ in 0..<2 { executor.resume(on: loop) { tasks.append(Self.place(on: executor)) } }
      return tasks
    }.get()
    #expect(await tasks[0].value)
    #expect(await !tasks[1].value)
    // Another call can continue on the loop.
    let later = try await loop.submit {
      var later: Task<Bool, Never>?
      executor.resume(on: loop) { later = Self.place(on: executor) }
      return later
    }.get()
    #expect(await later?.value == true)
  }

  @Test("A task that was not resumed by a response continues on the global pool, even if it was resumed on a loop")
  func elsewhere() async throws {
    let executor = ContinuationExecutor()
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    #expect(await !Self.place(on: executor).value)
    let task = try await loop.submit {
      // The caller belongs to another executor.
      executor.resume(on: loop) {}
      return Self.place(on: executor)
    }.get()
    #expect(await !task.value)
  }

  /// Starts a task whose value is whether it runs on an event loop.
  private static func place(on executor: ContinuationExecutor) -> Task<Bool, Never> {
    Task(executorPreference: executor) { MultiThreadedEventLoopGroup.currentEventLoop != nil }
  }

  /// Performs calls one after the other. Returns for each call whether it continued on an event loop.
  private func placesOfCalls(bytes: Int, calls: Int) async throws -> [Bool] {
    try await TestServer.with { _ in
      .text(String(repeating: "x", count: bytes))
    } body: { server in
      try await NIOTransport.with { transport in
        let places = Places()
        let client = Client(
          environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: [.transport: places],
          transport: transport)
        for _ in 0..<calls { _ = try await client.send(message()) }
        return places.all
      }
    }
  }
}

/// A middleware that records whether each call continues on an event loop.
private final class Places: Middleware {
  private let seen = Mutex<[Bool]>([])

  var all: [Bool] { seen.withLock { $0 } }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let response = try await next(request, context: context)
    seen.withLock { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
    return response
  }
}
