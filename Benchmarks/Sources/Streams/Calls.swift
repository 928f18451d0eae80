import Apus
import Foundation
import HTTPTypes
import Synchronization

/// Calls of `Client.stream`, over a transport that delivers the pieces immediately.
struct Calls {
  private let api: Client

  init(_ input: Input, mediaType: String) {
    api = Client(baseURL: "https://api.example", transport: Replay(input: input, mediaType: mediaType))
  }

  func events() async throws -> Int {
    var found = 0
    let request = Request<EventStream<Data>>.get("/events").streaming { $0.reconnects = false }
    for try await data in api.stream(request) { found += data.isEmpty ? 0 : 1 }
    return found
  }

  func lines() async throws -> Int {
    var found = 0
    for try await line in api.stream(Request<LineStream>.get("/lines")) { found += line.isEmpty ? 0 : 1 }
    return found
  }
}

private struct Replay: Transport {
  let input: Input
  let mediaType: String

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    let head = HTTPResponse(status: .ok, headerFields: [.contentType: mediaType])
    return ResponseMessage(head: head, content: ResponseContent(source: Pieces(input.pieces)))
  }
}

private final class Pieces: ContentSource {
  private let rest: Mutex<ArraySlice<Data>>

  init(_ pieces: [Data]) {
    rest = Mutex(pieces[...])
  }

  func next() async throws -> Data? { rest.withLock { $0.popFirst() } }

  func cancel() {
    rest.withLock { $0 = [] }
  }
}
