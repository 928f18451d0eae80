import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Comparing messages for coalescing")
struct FlightMessageTests {
  private func compared(_ change: (inout RequestMessage) -> Void = { _ in }) -> FlightMessage? {
    var head = HTTPRequest(method: .query, scheme: "https", authority: "x.test", path: "/a?b=1")
    head.headerFields[.accept] = "application/json"
    head.headerFields[.acceptLanguage] = "de"
    var request = RequestMessage(head: head, content: .bytes(Data("c".utf8)))
    change(&request)
    return FlightMessage(coalescing: request, but: ["x-call", "traceparent"])
  }

  @Test("Messages are equal despite a different spelling of the origin, order of fields or per-call field")
  func same() throws {
    let plain = try #require(compared())
    let (call, trace) = (try #require(HTTPField.Name("X-Call")), try #require(HTTPField.Name("TraceParent")))
    let changes: [(inout RequestMessage) -> Void] = [
      { $0.head.scheme = "HTTPS" },
      { $0.head.authority = "X.Test" },
      { $0.head.authority = "x.test:443" },
      { $0.head.headerFields = [.acceptLanguage: "de", .accept: "application/json"] },
      { $0.head.headerFields[call] = "1" },
      { $0.head.headerFields[trace] = "2" },
      { $0.content = .bytes(Data([0x63])) },
    ]
    for (index, change) in changes.enumerated() {
      #expect(compared(change) == plain, "change \(index)")
      #expect(compared(change)?.hashValue == plain.hashValue, "change \(index)")
    }
  }

  @Test("Messages with a different method, origin, target, field or content are different")
  func different() throws {
    let other = try #require(HTTPField.Name("X-Other"))
    let changes: [(inout RequestMessage) -> Void] = [
      { $0.head.method = .get },
      { $0.head.scheme = "http" },
      { $0.head.authority = "y.test" },
      { $0.head.authority = "x.test:8443" },
      { $0.head.path = "/a?b=2" },
      { $0.head.path = "/A?b=1" },
      { $0.head.path = "/%61?b=1" },
      { $0.head.path = "/a" },
      { $0.head.headerFields[.acceptLanguage] = "en" },
      { $0.head.headerFields[.acceptLanguage] = nil },
      { $0.head.headerFields[.range] = "bytes=0-9" },
      { $0.head.headerFields[other] = "1" },
      { $0.content = .bytes(Data("d".utf8)) },
      { $0.content = .bytes(Data()) },
      { $0.content = .empty },
    ]
    var all: Set<FlightMessage?> = [compared()]
    for change in changes { all.insert(compared(change)) }
    #expect(!all.contains(nil))
    #expect(all.count == changes.count + 1)
  }

  @Test(
    "Messages with safe methods are shared, except TRACE",
    arguments: [
      ("GET", true), ("HEAD", true), ("OPTIONS", true), ("QUERY", true), ("TRACE", false), ("POST", false),
      ("PUT", false), ("PATCH", false), ("DELETE", false), ("PURGE", false), ("get", false),
    ])
  func methods(token: String, shares: Bool) throws {
    let method = try #require(HTTPRequest.Method(token))
    #expect((compared { $0.head.method = method } != nil) == shares)
  }

  @Test("Content that may change between reads is not shared; a file is shared only between calls with the same id")
  func otherContent() throws {
    let file = try ContentFile(path: #filePath)
    let stream = ContentStream(isReplayable: true) { { nil } }
    #expect(compared { $0.content = .file(file) } == nil)
    #expect(compared { $0.content = .stream(stream) } == nil)
    let head = HTTPRequest(method: .post, scheme: "https", authority: "x.test", path: "/")
    #expect(FlightMessage(RequestMessage(head: head, content: .stream(stream))) == nil)
    let named = try #require(FlightMessage(RequestMessage(head: head, content: .file(file))))
    #expect(named.content == .file(file))
  }
}
