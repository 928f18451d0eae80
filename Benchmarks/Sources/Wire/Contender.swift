import Apus
import ApusNIO
import ApusTransfers
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOSSL
import Samples
import Uploading

/// A contender: an HTTP client that makes the same calls.
protocol Contender: Sendable {
  /// Gets the object of 152 bytes.
  func person() async throws -> Person
  /// Gets an array of objects.
  func people(_ count: Int) async throws -> [Person]
  func download(to path: String, by way: Download) async throws
  func upload(_ path: String) async throws
  /// Downloads the large file without keeping it.
  func receive() async throws
  /// Returns an upload of bytes in memory.
  func upload(of bytes: Data) -> @Sendable () async throws -> Void
  /// Uploads a file as the only part of multipart content.
  func multipart(_ path: String) async throws
  /// Closes the connections.
  func end() async throws
}

extension Contender {
  func end() async throws {}
}

/// A way to download a file.
enum Download: String {
  /// With the library's own means: `FileDownloadDelegate`, or `withResponse` and plain writes.
  case down
  /// With plain writes of each piece, or `Client.download`.
  case file
  /// With plain writes of each piece, flushed to the disk, or `Client.download`, which always flushes.
  case flushed
}

/// The number of connections to the server that a client may keep.
let connectionLimit = 64

/// Plain async-http-client with a decoder.
struct Raw: Contender {
  let base: String
  let client: HTTPClient
  private let decoder = JSONDecoder()
  /// The size of the pieces of a file that is uploaded.
  private let pieceSize: Int

  init(port: Int, pieceSize: Int = 256 << 10) {
    base = "http://127.0.0.1:\(port)"
    self.pieceSize = pieceSize
    // The configuration of `HTTPClient.shared` with as many connections as Apus has.
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionLimit
    client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }

  /// A client of a server that speaks HTTP/2, on one event loop.
  init(_ server: SecureServer) {
    base = server.url
    pieceSize = 512 << 10
    var configuration = HTTPClient.Configuration.singletonConfiguration
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(server.certificate)
    configuration.tlsConfiguration = tls
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    client = HTTPClient(eventLoopGroup: loop, configuration: configuration)
  }

  func person() async throws -> Person { try await get("/users/\(7)") }

  func people(_ count: Int) async throws -> [Person] { try await get("/arrays/\(count)") }

  func end() async throws { try await client.shutdown() }

  private func get<Value: Decodable>(_ path: String) async throws -> Value {
    var request = HTTPClientRequest(url: base + path)
    request.headers.add(name: "Accept", value: "application/json")
    let response = try await client.execute(request, timeout: .seconds(60))
    guard response.status == .ok else { throw Unexpected() }
    let content = try await response.body.collect(upTo: 1 << 24)
    return try decoder.decode(Value.self, from: content)
  }

  func download(to path: String, by way: Download) async throws {
    guard way == .down else { return try await downloadPieces(to: path, flushing: way == .flushed) }
    let delegate = try FileDownloadDelegate(path: path)
    let request = try HTTPClient.Request(url: "\(base)/big")
    _ = try await client.execute(request: request, delegate: delegate).get()
  }

  func upload(_ path: String) async throws {
    try await send(try FilePieces(path: path, of: pieceSize))
  }

  func multipart(_ path: String) async throws {
    let boundary = "apus-0123456789abcdef0123456789abcdef"
    let head = """
      --\(boundary)\r
      Content-Disposition: form-data; name="file"; filename="big"\r
      Content-Type: application/octet-stream\r
      \r\n
      """
    let content = try FilePieces(
      path: path, of: pieceSize, head: head, tail: "\r\n--\(boundary)--\r\n")
    try await send(content, mediaType: "multipart/form-data; boundary=\(boundary)")
  }

  private func send(_ content: FilePieces, mediaType: String = "application/octet-stream") async throws {
    var request = HTTPClientRequest(url: "\(base)/up")
    request.method = .PUT
    request.headers.add(name: "Content-Type", value: mediaType)
    request.body = .stream(content, length: .known(content.length))
    let response = try await client.execute(request, timeout: .seconds(60))
    _ = try await response.body.collect(upTo: 1 << 20)
  }

  private func downloadPieces(to path: String, flushing: Bool) async throws {
    let response = try await client.execute(HTTPClientRequest(url: "\(base)/big"), timeout: .seconds(60))
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    for try await piece in response.body {
      try piece.withUnsafeReadableBytes { try writeAll($0, to: file) }
    }
    if flushing, fsync(file) != 0 { throw Unexpected() }
  }
}

/// A typed client with the default pipeline.
struct Typed: Contender {
  let api: Client

  init(port: Int, transport: NIOTransport = NIOTransport(options: .wire), executor: (any TaskExecutor)? = nil) throws {
    self.init(try Self.api(port: port, transport: transport) { $0.settings.runtime.executor = executor })
  }

  /// A client that decodes with Foundation's decoder.
  static func withFoundation(port: Int) throws -> Typed {
    Typed(
      try api(port: port, transport: NIOTransport(options: .wire)) {
        var coding = JSONCoding.default
        coding.coder = .foundation
        $0.json = coding
      })
  }

  /// A client of a server that speaks HTTP/2, on one event loop.
  init(_ server: SecureServer, _ configure: (inout Configuration, NIOTransport) -> Void = { _, _ in }) throws {
    var options = NIOTransport.Options()
    options.protocols = [.http2]
    options.eventLoops = .dedicated(1)
    options.trust.trustRoots = .only(try Data(contentsOf: URL(fileURLWithPath: server.certificate)))
    let transport = NIOTransport(options: options)
    api = Client(baseURL: try BaseURL(server.url), transport: transport) { configure(&$0, transport) }
  }

  private init(_ api: Client) {
    self.api = api
  }

  private static func api(
    port: Int, transport: NIOTransport, _ configure: (inout Configuration) -> Void
  ) throws -> Client {
    Client(baseURL: try BaseURL("http://127.0.0.1:\(port)"), transport: transport, configure: configure)
  }

  func person() async throws -> Person {
    try await api.send(Request<Person>.get("/users/\(7)"))
  }

  func people(_ count: Int) async throws -> [Person] {
    try await api.send(Request<[Person]>.get("/arrays/\(count)"))
  }

  /// Gets the object as a value of a type that reads itself.
  func directPerson() async throws -> DirectPerson {
    try await api.send(Request<DirectPerson>.get("/users/\(7)"))
  }

  /// Gets an array of objects as values of a type that reads itself.
  func directPeople(_ count: Int) async throws -> [DirectPerson] {
    try await api.send(Request<[DirectPerson]>.get("/arrays/\(count)"))
  }

  func download(to path: String, by way: Download) async throws {
    guard way == .down else {
      _ = try await api.download("/big", to: path, options: DownloadOptions(replacesExisting: true))
      return
    }
    try await api.withResponse(to: Request<Content>.get("/big")) { response in
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      defer { close(file) }
      while let piece = try await response.next() {
        try piece.withUnsafeBytes { try writeAll($0, to: file) }
      }
    }
  }

  func upload(_ path: String) async throws {
    try await api.send(Request<Void>.put("/up", content: .file(path)))
  }

  func multipart(_ path: String) async throws {
    try await api.send(Request<Void>.put("/up", content: .multipart([.file("file", at: path)])))
  }
}

extension NIOTransport.Options {
  /// The connection options of a client's default transport on Linux.
  static var wire: NIOTransport.Options {
    var options = NIOTransport.Options()
    options.maximumConnectionsPerOrigin = connectionLimit
    return options
  }
}

private func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws {
  var written = 0
  while written < bytes.count {
    let count = write(file, bytes.baseAddress?.advanced(by: written), bytes.count - written)
    guard count > 0 else { throw Unexpected() }
    written += count
  }
}
