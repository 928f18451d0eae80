import ApusCore
import ApusNIO
import ApusTestServer
import NIOCore
import NIOPosix
import Testing

@Suite("Options")
struct OptionsTests {
  private typealias Change = @Sendable (inout NIOTransport.Options) -> Void

  private static let senseless: [(String, Change)] = [
    ("maximumConnectionsPerOrigin", { $0.maximumConnectionsPerOrigin = 0 }),
    ("maximumConnections", { $0.maximumConnections = 0 }),
    ("maximumWaiting", { $0.maximumWaiting = -1 }), ("idleTimeout", { $0.idleTimeout = .seconds(-1) }),
    ("maximumConnectionAge", { $0.maximumConnectionAge = .seconds(-1) }),
    ("connectTimeout", { $0.connectTimeout = .zero }),
    ("firstByteTimeout", { $0.firstByteTimeout = .seconds(-1) }), ("stallTimeout", { $0.stallTimeout = .zero }),
    ("limits.fieldBytes", { $0.limits.fieldBytes = 0 }), ("limits.fieldCount", { $0.limits.fieldCount = 0 }),
    ("limits.fieldCount", { $0.limits.fieldCount = 60_001 }),
    ("limits.contentCodings", { $0.limits.contentCodings = -1 }),
    ("limits.interimResponses", { $0.limits.interimResponses = -1 }),
    ("limits.decodedBytes", { $0.limits.decodedBytes = -1 }), ("limits.decodedRatio", { $0.limits.decodedRatio = 0 }),
    ("limits.ratioFreeBytes", { $0.limits.ratioFreeBytes = -1 }), ("eventLoops", { $0.eventLoops = .dedicated(0) }),
    ("userAgent", { $0.userAgent = "a\r\nb: c" }), ("proxy", { $0.proxy = .proxy(.init(host: "", port: 80)) }),
    ("proxy", { $0.proxy = .proxy(.init(host: "a", port: 65536)) }),
  ]

  @Test(
    "Impossible options do not trap: calls throw an error that names the option, before anything is sent",
    arguments: senseless.indices)
  func refused(index: Int) async throws {
    let (name, change) = Self.senseless[index]
    var options = NIOTransport.Options()
    change(&options)
    let error = #expect(throws: TransportError.self) { try options.validate() }
    #expect(error?.detail.contains(" \(name):") == true)
    let transport = NIOTransport(options: options)
    let failed = await failure { try await makeClient("http://127.0.0.1:1", transport).send(message()) }
    #expect(failed?.code == .invalidRequest)
    #expect(failed?.requestState == .notSent)
    #expect(failed?.detail == error?.detail)
    await transport.shutDown()
  }

  @Test("Defaults and boundary values are valid")
  func accepted() throws {
    try NIOTransport.Options().validate()
    var options = NIOTransport.Options()
    (options.maximumConnectionsPerOrigin, options.maximumConnections, options.maximumWaiting) = (1, 1, 0)
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (nil, nil, .seconds(Int64.max))
    (options.idleTimeout, options.limits.fieldCount, options.limits.contentCodings) = (.zero, 60_000, 0)
    try options.validate()
  }

  @Test("A transport on a given event loop group leaves it running")
  func group() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    try await TestServer.with { _ in
      .text("here")
    } body: { server in
      for _ in 0..<2 {
        try await NIOTransport.with {
          $0.eventLoops = .group(group)
        } body: { transport in
          let got = try await makeClient(server.origin, transport).send(message()).string
          #expect(got == "here")
        }
      }
    }
    try await group.shutdownGracefully()
  }
}
