import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What is told of interim responses.
  static let interimChecks: [Check] = [
    Check("tells of interim responses with their fields, in order, before the head", needs: [.interimResponses]) {
      bench in
      let link = try field("Link", "</style.css>; rel=preload")
      await bench.server.answer(
        "/",
        ConformanceReply([
          .interim(103, fields: HTTPFields([link])), .interim(102), .head(status: 200, fields: [.contentLength: "0"]),
        ]))
      let told = Mutex<[HTTPResponse]>([])
      let before = try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let context = context.changed {
          $0.values[InterimResponses.self] = { response in told.withLock { $0.append(response) } }
        }
        let response = try await bench.transport.send(request, context: context)
        let before = told.withLock { $0.count }
        try require(response.head.status.code, is: 200, "the status")
        return before
      }
      let all = told.withLock { $0 }
      try require(before, is: 2, "the number of interim responses told of when the head came")
      try require(all.map(\.status.code), is: [103, 102], "the list of their statuses")
      try require(all.first?.headerFields[link.name], is: link.value, "the field Link")
    },
    Check("gives up on interim responses that do not end", needs: [.strictFraming]) { bench in
      let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 10_000)
      await bench.server.answer("/", ConformanceReply([.raw(Data(flood.utf8)), .hold]))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
      try require(error.kind, is: .malformedResponse, "the kind")
      try require(error.requestState, is: .maybeSent, "the request's state")
      try await bench.server.waitForClose("/")
    },
    Check("refuses a switch to a protocol nobody asked for", needs: [.strictFraming]) { bench in
      await bench.server.answer(
        "/", .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
      try require(error.kind, is: .malformedResponse, "the kind")
    },
  ]
}
