import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// Memory that does not depend on how fast the other side is.
  static let backPressureChecks: [Check] = [
    Check("takes no more of an answer than is read, and a little", needs: [.backPressure]) { bench in
      let times = 512
      await bench.server.answer(
        "/large",
        ConformanceReply([
          .head(status: 200, fields: [.contentLength: String(times << 16)]), .content(sample(1 << 16), times: times),
        ]))
      let client = try bench.client(contentLimit: times << 16) { request, context in
        try await bench.transport.send(
          ConformanceMessage("GET", "/large").message(like: request), context: context)
      }
      let count = try await client.withResponse(to: Request<Data>.get("/")) { response in
        var count = try await response.next()?.count ?? 0
        try await passTime(bench)
        try require(!(await bench.server.isAnswered("/large")), "32 MiB were taken while nobody read")
        while let piece = try await response.next() { count += piece.count }
        return count
      }
      try require(count, is: times << 16, "the number of bytes")
    },
    Check("makes no more of a request's content than the server takes, and a little", needs: [.backPressure]) {
      bench in
      await bench.server.answer(
        "/large", ConformanceReply([.withhold, .head(status: 200, fields: [.contentLength: "0"])]))
      let made = Mutex(0)
      let stream = ContentStream(isReplayable: false) {
        {
          let number = made.withLock { made in
            made += 1
            return made
          }
          return number <= 512 ? Data(count: 1 << 16) : nil
        }
      }
      let message = ConformanceMessage("PUT", "/large", content: .stream(stream))
      let call = Task { try await bench.send(message).status }
      try await passTime(bench)
      try require(made.withLock { $0 } < 256, "16 MiB were made that nobody took")
      await bench.server.release()
      try require(try await call.value, is: 200, "the status")
      try require(made.withLock { $0 }, is: 513, "how often content was asked for")
    },
    Check(
      "gives an exchange up whose content the server does not take, when the task is cancelled", needs: [.backPressure]
    ) { bench in
      await bench.server.answer(
        "/held", ConformanceReply([.withhold, .head(status: 200, fields: [.contentLength: "0"])]))
      try await bench.perform(ConformanceMessage("PUT", "/held", content: .bytes(sample(16 << 20)))) {
        request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        try await passTime(bench)
        task.cancel()
        try await requireCancelled(task)
      }
      try require(await bench.server.requests.allSatisfy { $0.path != "/held" }, "the content arrived whole")
    },
  ]

  /// Long enough for everything to have gone, had anybody taken it.
  private static func passTime(_ bench: ConformanceBench) async throws {
    await bench.server.answer("/small", .status(200))
    for _ in 0..<200 { _ = try await bench.send(ConformanceMessage("GET", "/small")) }
  }
}
