import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@Suite("Redirects followed by a middleware")
struct FollowedRedirectTests {
  /// A middleware that declares whether it follows redirects, and records whether response content was collected.
  private struct Following: Middleware {
    let follows: Bool
    let collected: Seen

    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var context = context
      context.followsRedirects = follows
      let response = try await next(request, context: context)
      await collected.add(response.content.bytes != nil)
      response.discard()
      return ResponseMessage(head: HTTPResponse(status: .ok))
    }
  }

  private actor Seen {
    var all: [Bool] = []
    func add(_ isCollected: Bool) { all.append(isCollected) }
  }

  private func collected(_ answers: [StubReply], follows: Bool = true) async throws -> [Bool] {
    let (stub, seen) = (StubTransport(), Seen())
    stub.on(.get, "/x", replies: answers)
    var pipeline = Pipeline()
    pipeline.insert(Following(follows: follows, collected: seen), .after(.redirects))
    let api = Client(environment: Environment(baseURL: "https://a.example"), pipeline: pipeline, transport: stub)
    for _ in answers { try await api.send(Request<Void>.get("/x")) }
    return await seen.all
  }

  private static let statuses = [200, 300, 301, 302, 303, 304, 305, 306, 307, 308, 404]

  @Test("The content of a redirect that is followed is not collected, and all other content is collected")
  func collecting() async throws {
    let redirects = Self.statuses.map { StubReply.text("on", status: $0, fields: [.location: "/y"]) }
    #expect(try await collected(redirects) == Self.statuses.map { ![301, 302, 303, 307, 308].contains($0) })
    #expect(try await collected(redirects, follows: false).allSatisfy { $0 })
    let nowhere = Self.statuses.map { StubReply.text("on", status: $0, fields: [.location: " "]) }
    #expect(try await collected(nowhere).allSatisfy { $0 })
    #expect(try await collected(Self.statuses.map { .text("on", status: $0) }).allSatisfy { $0 })
  }

  @Test("The trace event of a redirect has the status and both origins, and fits into 33 bytes")
  func event() {
    let (from, to) = (Origin(scheme: "https", host: "a", port: 443), Origin(scheme: "https", host: "b", port: 8443))
    let kind = TraceEvent.Kind.redirected(status: 307, from: from, to: to)
    #expect("\(kind)" == "redirected with status 307 from https://a to https://b:8443")
    #expect(MemoryLayout<TraceEvent.Kind>.size <= 33)
  }
}
