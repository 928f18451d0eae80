import ApusCore
import ApusNIO
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@Suite("Stalled uploads")
struct StallTests {
  private func send(
    _ count: Int, to server: SlowReader, stall: Duration?, settings: ClientSettings = ClientSettings()
  ) async throws -> CallError? {
    try await NIOTransport.with {
      $0.stallTimeout = stall
      $0.firstByteTimeout = stall
    } body: { transport in
      let client = try makeClient("http://127.0.0.1:\(server.port)", transport, settings: settings)
      return await failure { try await client.send(message(.put).content(.bytes(Data(count: count)))) }
    }
  }

  @Test("An upload to a server that reads slowly but steadily does not stall, however much the buffers hold")
  func steady() async throws {
    let count = 200 << 10
    let pace = SlowReader.Pace(
      interval: .milliseconds(50), buffer: 8 << 10, expected: count, answer: "HTTP/1.1 204 No Content\r\n\r\n")
    try await SlowReader.with(pace) { server in
      let start = ContinuousClock.now
      // The client's system accepts all bytes immediately; the server has received them after 2.5 seconds.
      let error = try await send(count, to: server, stall: .seconds(1))
      #expect(error == nil)
      #expect(start.duration(to: .now) > .seconds(2))
    }
  }

  @Test("Progress is reported as bytes leave, not as the system's buffer accepts them")
  func reports() async throws {
    let count = 200 << 10
    let pace = SlowReader.Pace(
      interval: .milliseconds(50), buffer: 8 << 10, expected: count, answer: "HTTP/1.1 204 No Content\r\n\r\n")
    try await SlowReader.with(pace) { server in
      var settings = ClientSettings()
      let observer = SentBytes()
      settings.observers = [observer]
      let error = try await send(count, to: server, stall: .seconds(2), settings: settings)
      #expect(error == nil)
      let reports = observer.reports
      #expect(reports == reports.sorted() && Set(reports).count == reports.count)
      #expect(reports.last == Int64(count))
      // At least four measurements in 2 seconds, at 80 KiB/s.
      #expect(reports.count >= 4 && (reports.first ?? .max) < Int64(count) / 2, "\(reports)")
    }
  }

  @Test("An upload to a server that stops reading stalls, even if the system's buffer has accepted all content")
  func blocked() async throws {
    for count in [200 << 10, 8 << 20] {
      try await SlowReader.with(SlowReader.Pace(buffer: 8 << 10)) { server in
        let error = try #require(try await send(count, to: server, stall: .milliseconds(200)))
        #expect(error.code == .timeout && error.phase == .connecting && error.requestState == .maybeSent)
        #expect(error.detail == "no byte moved in either direction for 0.2 seconds, the limit of stall")
      }
    }
  }

  @Test(
    "An upload stalls if the server stops reading after it has sent its head; after a success the request is incomplete"
  )
  func blockedAfterHead() async throws {
    try await requireStall(after: "200 OK") { error in
      #expect(error.code == .connectionLost)
      #expect(error.detail.hasSuffix(" of 8.3 MB, then no byte left for 3.0 seconds, the limit of stall"))
    }
    try await requireStall(after: "500 No") { error in
      #expect(error.code == .timeout)
      #expect(error.detail == "no byte moved in either direction for 3.0 seconds, the limit of stall")
    }
  }

  private func requireStall(after status: String, _ check: (CallError) -> Void) async throws {
    let pace = SlowReader.Pace(buffer: 8 << 10, greeting: "HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\n")
    try await SlowReader.with(pace) { server in
      // The limit leaves enough time for the head to arrive on a busy machine.
      let error = try #require(try await send(8 << 20, to: server, stall: .seconds(3)))
      #expect(error.phase == .receiving && error.requestState == .responded)
      check(error)
    }
  }

  @Test("A stall timeout set while sending was blocked does not fire once the head has arrived and bytes move again")
  func headWhileBlocked() async throws {
    let count = 12 << 20
    let pace = SlowReader.Pace(
      length: 64 << 10, interval: .milliseconds(40), greeting: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
      expected: count, answer: "ok")
    try await SlowReader.with(pace) { server in
      // Shorter than the upload, and long enough for a piece to move on a busy machine.
      let error = try await send(count, to: server, stall: .seconds(4))
      #expect(error == nil)
    }
  }
}

/// The bytes that were reported as sent.
private final class SentBytes: CallObserver {
  private let totals = Mutex<[Int64]>([])
  var reports: [Int64] { totals.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .sendProgress(let sent, _) = event.kind { totals.withLock { $0.append(sent) } }
  }
}
