import ApusCore
import ApusWaiting
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  static let deadlineChecks: [Check] = [
    Check("ends at the deadline while waiting for the head, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: ConformanceReply([.hold]))
      let client = try limitedClient(bench)
      let call = Task { try await client.send(Request<Void>.method(.get, "/")) }
      _ = try await bench.server.waitForRequest("/")
      bench.clock.advance(by: .seconds(2))
      try requireTimeout(await call.result, .maybeSent)
      try await bench.server.waitForClientClose("/")
    },
    Check("ends at the deadline while sending content") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      let (asked, never) = (Gate(), Gate())
      let endless = ContentStream(isReplayable: false) {
        {
          asked.open()
          try await never.wait()
          return nil
        }
      }
      let client = try limitedClient(bench)
      let call = Task { try await client.send(Request<Void>.post("/", content: .stream(endless))) }
      try await asked.wait()
      bench.clock.advance(by: .seconds(2))
      try requireTimeout(await call.result)
      try require(await bench.server.requests.isEmpty, "the server received the content as complete")
    },
    Check("ends at the deadline while receiving content, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: held(after: 1000))
      let client = try limitedClient(bench)
      let call = Task {
        try await client.withResponse(to: Request<Data>.get("/")) { response in
          _ = try await response.next()
          bench.clock.advance(by: .seconds(2))
          while try await response.next() != nil {}
        }
      }
      try requireTimeout(await call.result, .responded)
      try await bench.server.waitForClientClose("/")
    },
    Check("ends at the attempt's deadline while waiting for the head, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: ConformanceReply([.hold]))
      try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let limited = limitedAttempt(context)
        let exchange = Task { try await bench.transport.send(request, context: limited) }
        _ = try await bench.server.waitForRequest("/")
        bench.clock.advance(by: .seconds(2))
        try requireAttemptTimeout(await exchange.result)
        try await bench.server.waitForClientClose("/")
      }
    },
    Check("ignores the attempt's deadline after the head") { bench in
      await bench.server.reply(to: "/", with: held(after: 1000))
      let count = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: limitedAttempt(context))
        bench.clock.advance(by: .seconds(2))
        await bench.server.release()
        return try await response.content.collect(upTo: 1 << 20).count
      }
      try require(count, is: 1001, "the content's length")
    },
    Check("completes an exchange within its deadline") { bench in
      await bench.server.reply(to: "/", with: .status(200, content: "in time"))
      let response = try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let context = context.changed { $0.limit(to: $0.now.advanced(by: .seconds(1))) }
        let response = try await bench.transport.send(request, context: context)
        return try await response.content.collect(upTo: 100).count
      }
      try require(response, is: 7, "the content's length")
    },
  ]

  /// Returns a client whose calls have a deadline of a second.
  private static func limitedClient(_ bench: ConformanceBench) throws -> Client {
    try bench.client { request, context in
      let context = context.changed { $0.limit(to: $0.now.advanced(by: .seconds(1))) }
      return try await bench.transport.send(request, context: context)
    }
  }

  /// Returns a context with a short attempt deadline, so that a transport with a clock of its own reaches the deadline,
  /// too.
  private static func limitedAttempt(_ context: ExchangeContext) -> ExchangeContext {
    context.changed { $0.limitAttempt(to: $0.now.advanced(by: .milliseconds(100))) }
  }

  private static func requireAttemptTimeout(_ result: Result<ResponseMessage, any Error>) throws {
    do {
      _ = try result.get()
      throw ConformanceFailure("the exchange succeeded after the attempt's deadline")
    } catch let error as TransportError {
      let isNamed = error.code == .timeout && (error.phase == .awaitingHead || error.phase == .connecting)
      try require(isNamed, "the error's code is \(error.code)")
      try require(error.requestState, is: .maybeSent, "the request's state")
    }
  }

  private static func requireTimeout(_ result: Result<Void, any Error>, _ state: RequestState? = nil) throws {
    do {
      try result.get()
      throw ConformanceFailure("the exchange succeeded after its deadline")
    } catch let error as CallError {
      try require(error.code, is: .timeout, "the error's code")
      if let state { try require(error.requestState, is: state, "the request's state") }
    }
  }
}
