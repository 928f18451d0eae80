import ApusCore
import ApusTestServer
import ApusURLSession
import Foundation
import HTTPTypes
import LoopbackConformance
import Synchronization
import TestSupport
import Testing

@Suite("Responses that begin before the request ends")
struct EarlyResponseTests {
  /// A length that exceeds the socket buffers of both systems.
  private static let length = 30_000_000

  private func with(
    readsContent: Bool = false, reply: @escaping @Sendable (RecordedRequest, Gate) -> Reply,
    body: (TestServer, Client) async throws -> Void
  ) async throws {
    let observer = HeadObserver()
    var options = TestServer.Options(contentLimit: 1000, repliesAt: .head)
    options.stopsReadingAtHead = { _ in !readsContent }
    try await TestServer.with(options: options) {
      reply($0, observer.headArrived)
    } body: { server in
      let transport = URLSessionTransport()
      defer { transport.shutDown() }
      var settings = ClientSettings()
      settings.observers = [observer]
      try await body(server, try makeClient(server, transport: transport, settings: settings))
    }
  }

  private static var contents: [RequestContent] {
    let data = Data(count: length)
    let stream = { (length: Int64?) in
      ContentStream(length: length, isReplayable: true) {
        let rest = Mutex<Data?>(data)
        return {
          rest.withLock { rest in
            defer { rest = nil }
            return rest
          }
        }
      }
    }
    return [.bytes(data), .stream(stream(Int64(length))), .stream(stream(nil))]
  }

  private func requireIncomplete(_ error: CallError?) throws {
    let error = try #require(error)
    #expect(error.code == .connectionLost && error.requestState == .responded && error.status == 201, "\(error)")
    #expect(error.content.map { String(decoding: $0.data, as: UTF8.self) } == "stored")
    #expect(error.detail.hasPrefix("the server responded 201 after "), "\(error)")
    #expect(!error.trace.events.contains { $0.kind == .requestSent })
  }

  @Test("Content is sent to its end after an early success")
  func continues() async throws {
    let received = Gate()
    for content in Self.contents {
      try await with(readsContent: true) { _, _ in
        Reply.text("stored", status: 201).inserting([.wait(received)], at: .end)
      } body: { server, client in
        let response = try await client.response(to: message(.put).content(content))
        #expect(response.status == 201 && response.trace.events.contains { $0.kind == .requestSent })
        let exchange = try await server.exchange { $0.isComplete }
        received.open()
        #expect(exchange.contentLength == Self.length)
      }
    }
  }

  #if !canImport(Security)
  @Test("The platform stops sending at an early success with Connection: close, and the call fails")
  func closing() async throws {
    for content in Self.contents {
      let never = Gate()
      try await with { _, _ in
        Reply.text("stored", status: 201, fields: ["Connection": "close"]).inserting([.wait(never)], at: .end)
      } body: { server, client in
        try requireIncomplete(await failure { try await client.send(message(.put).content(content)) })
        let exchange = try await server.exchange()
        #expect(exchange.contentLength < Self.length)
        never.open()
      }
    }
  }
  #endif

  @Test("A call fails if the connection ends before all content was sent")
  func cutOff() async throws {
    for content in Self.contents {
      try await with { _, headArrived in
        Reply.text("stored", status: 201)
          .inserting([.wait(headArrived), .close], at: .end)
      } body: { _, client in
        try requireIncomplete(await failure { try await client.send(message(.put).content(content)) })
      }
    }
  }

  @Test(
    "If the connection ends before all content was sent, a streamed call gets the head, and its content ends with the error"
  )
  func cutOffStream() async throws {
    try await with { _, headArrived in
      Reply.text("stored", status: 201)
        .inserting([.wait(headArrived), .close], at: .end)
    } body: { _, client in
      let text = Mutex("")
      let error = await failure {
        try await client.withResponse(to: message(.put).content(Self.contents[0])) { response in
          while let piece = try await response.next() {
            text.withLock { $0 += String(decoding: piece, as: UTF8.self) }
          }
        }
      }
      #expect(text.withLock { $0 } == "stored")
      #expect(error?.code == .connectionLost && error?.requestState == .responded && error?.status == 201)
      #expect(error?.detail.hasPrefix("the server responded 201 after ") == true)
    }
  }

  @Test("Sending stops after an early response that is no success", arguments: [302, 404, 413, 503])
  func rejected(status: Int) async throws {
    let never = Gate()
    for content in Self.contents {
      try await with { _, _ in
        // A Location field is needed: the platform discards the content of a redirect without a target.
        let fields: FieldLines = status == 302 ? ["Location": "/elsewhere"] : [:]
        return Reply.text("rejected", status: status, fields: fields)
          .inserting([.wait(never)], at: .end)
      } body: { _, client in
        let response = try await client.response(to: message(.put).content(content))
        #expect(response.status == status && response.value.data == Data("rejected".utf8))
        #expect(!response.trace.events.contains { $0.kind == .requestSent })
        never.open()
      }
    }
  }

  @Test("A call with small content succeeds if the content was sent before the response", arguments: [0, 1, 100_000])
  func small(count: Int) async throws {
    try await TestServer.with { _ in
      .text("stored", status: 201)
    } body: { server in
      let request = message(.put).content(.bytes(Data(count: count)))
      let response = try await makeClient(server).response(to: request)
      #expect(response.trace.events.contains { $0.kind == .requestSent })
    }
  }
}

/// An observer of the response's head.
private final class HeadObserver: CallObserver {
  let headArrived = Gate()

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .headArrived = event.kind { headArrived.open() }
  }
}
