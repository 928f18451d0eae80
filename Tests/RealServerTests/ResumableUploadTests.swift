#if os(Linux)
import Apus
import ApusTesting
import ApusTransfers
import Crypto
import Foundation
import Synchronization
import Testing

/// Uploads to two independent servers of the tus protocol. One stores the received bytes of an interrupted request, the
/// other discards them.
@Suite("tus servers: resumable uploads", .needs(.litestarTus), .needs(.aiohttpTus), .serialized)
struct ResumableUploadTests {
  enum Server: String, CaseIterable, Sendable {
    case litestar
    case aiohttp

    func started() async throws -> RealServer {
      switch self {
      case .litestar: try await RealServer.litestarTus.value
      case .aiohttp: try await RealServer.aiohttpTus.value
      }
    }

    /// Only litestar-tus stores a part of a request, so uploads to the other server use several requests.
    var uploadProtocol: UploadProtocol { self == .litestar ? .tus() : .tus(checksum: .sha1) }
  }

  /// A PATCH request in the server's log.
  private struct Patch: Equatable {
    let offset: Int64
    let length: Int64
  }

  private static let size: Int64 = 64 << 20

  /// Runs a test with a file and a folder for the store, which are removed afterwards.
  private func withFile(
    _ test: (_ path: String, _ hash: SHA256Digest, _ store: FileTransferStore) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-uploads-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // The period is a prime number, so that shifted bytes differ.
    let period = Data((0..<1_048_573).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
    var content = Data(capacity: Int(Self.size))
    while content.count < Self.size { content += period.prefix(Int(Self.size) - content.count) }
    try content.write(to: URL(filePath: "\(folder)/film.mp4"))
    try await test("\(folder)/film.mp4", SHA256.hash(data: content), FileTransferStore("\(folder)/store"))
  }

  private func request(_ path: String) -> Request<Void> { .post("/files", content: .file(path)) }

  /// Returns the hash of the uploaded file, and the successful PATCH requests in the server's log.
  private func stored(_ url: String?, on server: RealServer) throws -> (hash: SHA256Digest, patches: [Patch]) {
    let id = try #require(url?.split(separator: "/").last)
    let log = String(decoding: try server.file("requests.log"), as: UTF8.self).split(separator: "\n")
    let patches = log.compactMap { line -> Patch? in
      let values = line.split(separator: " ").map(String.init)
      guard values.count == 5, values[0] == "PATCH", values[1] == "/files/\(id)", values[4] == "204",
        let offset = Int64(values[2]), let length = Int64(values[3])
      else { return nil }
      return Patch(offset: offset, length: length)
    }
    return (SHA256.hash(data: try server.file("uploads/\(id)")), patches)
  }

  @Test("A file of 64 MiB arrives unchanged", arguments: Server.allCases, Wire.allCases)
  func whole(kind: Server, wire: Wire) async throws {
    let server = try await kind.started()
    try await withFile { path, hash, store in
      try await withClient(try server.url(), over: wire) { api in
        let uploaded = try await api.upload(request(path), by: .tus(), options: UploadOptions(store: store))
        #expect((uploaded.size, uploaded.resumedBytes) == (Self.size, 0))
        let (arrived, patches) = try stored(uploaded.url, on: server)
        #expect(arrived == hash)
        #expect(patches == [Patch(offset: 0, length: Self.size)])
      }
    }
  }

  @Test(
    "After a cancelled upload a second call sends only the rest, from the offset that the server states",
    arguments: Server.allCases)
  func continued(kind: Server) async throws {
    let server = try await kind.started()
    try await withFile { path, hash, store in
      let options = UploadOptions(store: store)
      try await withTransport(.nio) { transport in
        let holding = HoldingTransport(transport, after: Self.size / 2)
        let environment = Environment(baseURL: try BaseURL(try server.url()))
        let interrupted = Client(environment: environment, transport: holding)
        let upload = Task {
          // An upload that fails earlier ends the wait, too.
          defer { holding.reached.open() }
          return try await interrupted.upload(request(path), by: kind.uploadProtocol, options: options)
        }
        try await holding.reached.wait()
        upload.cancel()
        #expect(await failure { _ = try await upload.value }?.code == .cancelled)
      }
      try await withClient(try server.url()) { api in
        let uploaded = try await api.upload(request(path), by: kind.uploadProtocol, options: options)
        // litestar-tus has the bytes received until the connection was closed, aiohttp-tus only the complete requests.
        #expect(uploaded.size == Self.size && uploaded.resumedBytes > 0 && uploaded.resumedBytes <= Self.size / 2)
        if kind == .aiohttp { #expect(uploaded.resumedBytes == Self.size / 2) }
        let (arrived, patches) = try stored(uploaded.url, on: server)
        #expect(arrived == hash)
        // litestar-tus logs the interrupted request like a complete one.
        let rest = patches.filter { $0.offset >= uploaded.resumedBytes }
        #expect(rest.first?.offset == uploaded.resumedBytes)
        #expect(rest.reduce(0) { $0 + $1.length } == Self.size - uploaded.resumedBytes)
        #expect(Set(patches.map(\.offset)).count == patches.count, "\(patches)")
      }
    }
  }

  @Test("Apus and aiotus upload the same bytes")
  func sameBytes() async throws {
    // aiotus cannot use the relative URLs of litestar-tus.
    let server = try await RealServer.aiohttpTus.value
    try await withFile { path, hash, store in
      let other = try await RealServer.output(of: "aiotus_upload.py", "\(try server.url())/files", path)
      try await withClient(try server.url()) { api in
        let uploaded = try await api.upload(request(path), by: .tus(), options: UploadOptions(store: store))
        let (theirs, ours) = (try stored(other, on: server).hash, try stored(uploaded.url, on: server).hash)
        #expect(theirs == hash && ours == hash)
      }
    }
  }
}

/// A transport that sends the first bytes of an upload, then waits until the exchange is cancelled.
private struct HoldingTransport: Transport {
  /// Opens when the first bytes have been passed to the transport.
  let reached = Gate()
  private let transport: any Transport
  private let limit: Int64

  init(_ transport: any Transport, after limit: Int64) {
    (self.transport, self.limit) = (transport, limit)
  }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    var request = request
    let field = request.head.headerFields[.uploadOffset]
    if request.head.method == .patch, let offset = field.flatMap(Int64.init) {
      request.content = .stream(held(request.content, at: max(0, limit - offset)))
    }
    return try await transport.send(request, context: context)
  }

  private func held(_ content: MessageContent, at count: Int64) -> ContentStream {
    ContentStream(length: content.length, isReplayable: content.isReplayable) { [reached] in
      let pieces = try Self.pieces(of: content)
      let sent = Mutex<Int64>(0)
      return {
        guard let piece = try await pieces() else { return nil }
        let total = sent.withLock { total in
          total += Int64(piece.count)
          return total
        }
        if total <= count { return piece }
        reached.open()
        try await Gate().wait()
        return nil
      }
    }
  }

  private static func pieces(of content: MessageContent) throws -> ContentStream.Pieces {
    switch content {
    case .stream(let stream): return try stream.makePieces()
    case .file(let file):
      let handle = try FileHandle(forReadingFrom: URL(filePath: file.path))
      return { try handle.read(upToCount: 256 << 10) }
    default: return { nil }
    }
  }
}

extension HTTPField.Name {
  fileprivate static var uploadOffset: HTTPField.Name { HTTPField.Name("Upload-Offset") ?? .range }
}
#endif
