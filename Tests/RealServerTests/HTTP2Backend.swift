#if os(Linux)
import ApusTestServer
import Foundation

/// The server behind haproxy, with the resources of `scripts/servers/resources.py`.
enum HTTP2Backend {
  private static let server = Task {
    try await TestServer.start(options: TestServer.Options(contentLimit: 64 << 20)) { reply(to: $0) }
  }

  static var port: Int { get async throws { try await server.value.port } }

  private static let tag = "\"one\""

  private static func reply(to request: RecordedRequest) -> Reply {
    switch request.path {
    case "/film.json": .json(#"{"title":"Alien","year":1979}"#)
    case "/echo": .status(200, content: request.content)
    case "/big": .generated(HTTP2Check.bigLength)
    case "/nothing": .status(204)
    case "/text.txt" where request.field("If-None-Match") == tag: .status(304, fields: ["ETag": tag])
    case "/text.txt", "/zipped.txt": .text(HTTP2Check.text, fields: ["ETag": tag])
    case "/early": Reply.text("early\n").interim(103, fields: ["Link": "</style.css>; rel=preload"])
    case "/trailers": .chunked([Array("text\n".utf8)], trailers: ["X-End": "yes"])
    case "/list.events": events
    default: .status(404)
    }
  }

  private static let events: Reply = {
    let events = (0..<HTTP2Check.eventCount).map { Array("id: \($0)\ndata: event \($0)\n\n".utf8) }
    return Reply.chunked(events, fields: ["Content-Type": "text/event-stream"]).paced(by: 64, every: .milliseconds(20))
  }()
}
#endif
