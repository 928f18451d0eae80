import ApusCore
import ApusWaiting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  /// Checks for responses that begin before the request has been sent completely (RFC 9110 §7.5).
  static let earlyResponseChecks: [Check] =
    [
      Check("sends content to its end although the server responds with success before") { bench in
        for (number, status) in [200, 201, 204].enumerated() {
          let path = "/\(status)"
          await bench.server.reply(
            to: path, with: ConformanceReply([.early(readsContent: true)] + ConformanceReply.status(status).steps))
          let delivery = number == 0 ? ContentDelivery.streamed : .buffered
          let response = try await bench.send(upload(to: path), delivery)
          try require(response.status, is: status, "the status")
          let request = try await bench.server.waitForRequest(path)
          try require(request.content.count, is: largeCount, "the number of content bytes received")
        }
      },
      Check("stops sending content after a rejection, and returns the response") { bench in
        for status in [308, 413, 503] {
          let fields: HTTPFields = status == 308 ? [.location: "/elsewhere"] : [:]
          let rejection = ConformanceReply.status(status, fields: fields, content: "rejected")
          await bench.server.reply(
            to: "/\(status)", with: ConformanceReply([.early(readsContent: false)] + rejection.steps))
          let response = try await bench.send(upload(to: "/\(status)"))
          try require(response.status, is: status, "the status")
          try require(response.text, is: "rejected", "the content")
          await bench.server.reply(to: "/next", with: .status(200, content: "next"))
          try require(try await bench.send(ConformanceMessage("GET", "/next")).text, is: "next", "the next content")
        }
      },
      Check("returns the head of a streamed response while content is sent", needs: [.backPressure]) { bench in
        let mayContinue = Gate()
        let first: HTTPFields = [.contentLength: "5"]
        await bench.server.reply(
          to: "/",
          with: ConformanceReply([
            .early(readsContent: true), .head(status: 200, fields: first), .content(Data("first".utf8)),
          ]))
        let pieces = Mutex(2)
        let stream = ContentStream(isReplayable: false) {
          {
            let number = pieces.withLock { pieces in
              pieces -= 1
              return pieces
            }
            if number == 0 { try await mayContinue.wait() }
            return number < 0 ? nil : sample(100_000)
          }
        }
        let message = ConformanceMessage("POST", "/", content: .stream(stream))
        let text = try await bench.perform(message, .streamed) { request, context in
          let response = try await bench.transport.send(request, context: context)
          // The rest of the request is produced after the response has arrived.
          let content = try await response.content.collect(upTo: 100) { _ in mayContinue.open() }
          return String(decoding: content, as: UTF8.self)
        }
        try require(text, is: "first", "the content")
        let request = try await bench.server.waitForRequest("/")
        try require(request.content.count, is: 200_000, "the number of content bytes received")
      },
    ]
    + [ContentDelivery.buffered, .streamed].map { delivery in
      Check("fails if not all content was sent, whatever success the server responded with: \(delivery)") { bench in
        await bench.server.reply(
          to: "/",
          with: ConformanceReply([
            .early(readsContent: false), .head(status: 200, fields: [.contentLength: "4"]),
            .content(Data("done".utf8)), .hold, .close,
          ]))
        let exchange = Task { try await bench.send(upload(to: "/"), delivery) }
        // The response arrives, then the connection ends.
        try await passTime(bench)
        await bench.server.release()
        switch await exchange.result {
        case .success: throw ConformanceFailure("the exchange succeeded although its content was not sent")
        case .failure(let error as TransportError):
          try require(error.code, is: .connectionLost, "the code")
          try require(error.requestState, is: .responded, "the request's state")
        case .failure(let error): throw error
        }
      }
    }

  /// A length that exceeds the socket buffers of both systems.
  private static let largeCount = 12 << 20

  private static func upload(to path: String) -> ConformanceMessage {
    ConformanceMessage("PUT", path, content: .bytes(sample(largeCount)))
  }
}
