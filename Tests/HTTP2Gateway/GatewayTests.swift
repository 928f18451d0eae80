import ApusTestServer
import ApusTesting
import HTTPTypes
import LoopbackConformance
import NIOCore
import NIOPosix
import Testing

@testable import ApusNIO

@Suite("HTTP/2 gateway")
struct GatewayTests {
  /// Bytes of a client.
  struct Client: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: ByteBuffer

    init(_ name: String, preface: Bool = true, _ write: (inout FrameWriter) -> Void) {
      var writer = FrameWriter()
      if preface { writer.writePreface(settings: [Setting(.enablePush, 0)], windowIncrement: 0) }
      write(&writer)
      (testDescription, bytes) = (name, writer.buffer)
    }
  }

  static let violations = [
    Client("HTTP/1.1", preface: false) { $0.buffer.writeString("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") },
    Client("no SETTINGS", preface: false) {
      $0.buffer.writeString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      $0.writePing(1, isAcknowledgement: false)
    },
    Client("an even stream") { $0.writeRequest(2) },
    Client("a decreasing stream") {
      $0.writeRequest(3)
      $0.writeRequest(1)
    },
    Client("DATA on an idle stream") { $0.writeContentHeader(1, count: 0, isLast: true) },
    Client("DATA after END_STREAM") {
      $0.writeRequest(1)
      $0.writeContentHeader(1, count: 0, isLast: true)
    },
    Client("DATA after RST_STREAM") {
      $0.writeRequest(1, isLast: false)
      $0.writeReset(1, .cancel)
      $0.writeContentHeader(1, count: 0, isLast: true)
    },
    Client("less content than announced") {
      $0.writeRequest(1, [("content-length", "3")], isLast: false)
      $0.writeContentHeader(1, count: 2, isLast: true)
      $0.buffer.writeString("ab")
    },
    Client("more content than announced") {
      $0.writeRequest(1, [("content-length", "1")], isLast: false)
      $0.writeContentHeader(1, count: 2, isLast: true)
      $0.buffer.writeString("ab")
    },
    Client("trailers without END_STREAM") {
      $0.writeRequest(1, isLast: false)
      $0.writeBlock(1, [("x-end", "yes")], isLast: false)
    },
    Client("an upper-case name") { $0.writeRequest(1, [("X-Upper", "1")]) },
    Client("a connection-specific field") { $0.writeRequest(1, [("connection", "close")]) },
    Client("a late pseudo-field") { $0.writeRequest(1, [("x", "1"), (":path", "/")]) },
    Client("a repeated pseudo-field") { $0.writeRequest(1, [(":path", "/")]) },
    Client("no pseudo-fields") { $0.writeBlock(1, [("x", "1")], isLast: true) },
    Client("an interrupted field block") {
      FrameHeader(length: 0, type: .headers, flags: .endStream, stream: 1).write(into: &$0.buffer)
      $0.writePing(1, isAcknowledgement: false)
    },
    Client("a frame that is too long") { FrameHeader(length: 16_385, type: .data, stream: 1).write(into: &$0.buffer) },
    Client("a window that overflows") { $0.writeWindowUpdate(0, increment: .max >> 1) },
    Client("an increment of 0") { $0.writeWindowUpdate(0, increment: 0) },
    Client("two acknowledgements of SETTINGS") {
      $0.writeSettingsAcknowledgement()
      $0.writeSettingsAcknowledgement()
    },
    Client("an acknowledgement without PING") { $0.writePing(1, isAcknowledgement: true) },
    Client("a request to push") {
      FrameHeader(length: 6, type: .settings).write(into: &$0.buffer)
      $0.buffer.writeMultipleIntegers(Setting.Identifier.enablePush.rawValue, UInt32(1))
    },
  ]

  @Test("A client that violates HTTP/2 is recorded and disconnected", arguments: violations)
  func violation(client: Client) async throws {
    try await requireViolation(client.bytes)
  }

  @Test("A client that ignores the window of a stream is recorded and disconnected")
  func window() async throws {
    var options = TestServer.Options(contentLimit: 0, repliesAt: .head)
    options.stopsReadingAtHead = { _ in true }
    let client = Client("more content than the window") {
      $0.writeRequest(1, isLast: false)
      // Far more than the buffers of the sockets behind the gateway.
      for _ in 0..<2000 {
        $0.writeContentHeader(1, count: 16_384, isLast: false)
        $0.buffer.writeRepeatingByte(0, count: 16_384)
      }
    }
    try await requireViolation(client.bytes, options)
  }

  private func requireViolation(
    _ bytes: ByteBuffer, _ options: TestServer.Options = TestServer.Options()
  ) async throws {
    try await TestServer.with(options: options) { _ in
      .stalled
    } body: { server in
      let gateway = try await HTTP2Gateway.start(to: server)
      let port = try #require(gateway.origin.split(separator: ":").last.flatMap { Int($0) })
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get()
      // The gateway may disconnect the client before all bytes are written.
      try? await channel.writeAndFlush(bytes).get()
      try await channel.closeFuture.get()
      #expect(throws: ConformanceFailure.self) { try gateway.requireConformance() }
      await gateway.shutDown()
    }
  }
}

extension FrameWriter {
  fileprivate mutating func writeRequest(_ stream: StreamID, _ fields: [(String, String)] = [], isLast: Bool = true) {
    let pseudoFields = [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/")]
    writeBlock(stream, pseudoFields + fields, isLast: isLast)
  }

  fileprivate mutating func writeBlock(_ stream: StreamID, _ fields: [(String, String)], isLast: Bool) {
    try? writeHead(stream, isLast: isLast) { (buffer: inout ByteBuffer) throws(FramingError) in
      for (name, value) in fields { Self.write(name, Array(value.utf8), into: &buffer) }
    }
  }
}
