#if os(Linux)
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization

@testable import ApusAWS
@testable import ApusTransfers

/// A variant of transferring a file: by a queue, or by a call with a store.
enum KillVariant: String, CaseIterable, Sendable {
  case download
  /// An upload by the IETF draft to a server that does not support the draft.
  case plain
  case tus
  case ietf
  /// An upload by the IETF draft that is created without content.
  case careful
  case downloadCall = "download-call"
  /// A download of several concurrent ranges.
  case rangesCall = "ranges-call"
  case tusCall = "tus-call"
  case s3Call = "s3-call"

  static let queued: [KillVariant] = [.download, .plain, .tus, .ietf, .careful]
  static let calls: [KillVariant] = [.downloadCall, .rangesCall, .tusCall, .s3Call]

  var isDownload: Bool { [.download, .downloadCall, .rangesCall].contains(self) }
  var isCall: Bool { Self.calls.contains(self) }
  /// The number of bytes: several writes of a download, several parts for S3.
  var length: Int {
    switch self {
    case .s3Call: 6_000_000
    case .rangesCall: 4_000_000
    case .download, .downloadCall: 600_000
    case .plain, .tus, .ietf, .careful, .tusCall: 300_000
    }
  }
  var content: Data { FileOnServer(length: length).bytes }
}

/// A server for a transfer whose process is killed.
final class KillServer: Sendable {
  /// The content that the server has received.
  struct Holdings {
    /// The number of complete copies of the file.
    var complete = 0
    /// The number of uploads that are neither complete nor removed.
    var incomplete = 0
    /// The number of stored content bytes. `nil`: the server does not count them.
    var received: Int?
  }

  /// The URL of the file. For S3 the URL of the server, the bucket and the key.
  let url: String
  private let stalls: StallSwitch
  private let server: TestServer
  private let hold: @Sendable () -> Holdings

  private init(
    _ url: String, on server: TestServer, _ stalls: StallSwitch, _ hold: @escaping @Sendable () -> Holdings
  ) {
    (self.url, self.server, self.stalls, self.hold) = (url, server, stalls, hold)
  }

  var holdings: Holdings { hold() }

  /// Sets whether transfers stall before they are complete.
  func stall(_ isOn: Bool) { stalls.isOn.withLock { $0 = isOn } }

  /// Ends the stalls. A plain server first waits until the connections of the last process are closed: earlier, it could
  /// accept an upload whose bytes the process had sent before it ended.
  func endStalls() async throws {
    if stalls.lastsUntilClose { try await server.wait { $0.openConnections == 0 } }
    stall(false)
  }

  /// Runs a test with a server.
  static func with(_ variant: KillVariant, _ test: (KillServer) async throws -> Void) async throws {
    let stalls = StallSwitch(lastsUntilClose: variant == .plain)
    switch variant {
    case .download, .downloadCall, .rangesCall:
      let content = variant.content
      try await TestServer.with {
        reply(to: $0, content, isStalling: stalls.value)
      } body: { server in
        try await test(KillServer(server.origin + "/film", on: server, stalls) { Holdings() })
      }
    case .plain:
      let options = TestServer.Options(contentLimit: 1 << 24)
      try await TestServer.with(options: options) { _ in
        stalls.value ? .stalled : .status(201)
      } body: { server in
        try await test(
          KillServer(server.origin + "/films", on: server, stalls) {
            Holdings(complete: server.exchanges.count { $0.status == 201 })
          })
      }
    case .tus, .ietf, .careful, .tusCall:
      let faults = UploadServer.stalls(after: [100_000]) { stalls.value ? 0 : 1 }
      try await UploadServer.with(variant == .ietf || variant == .careful ? .ietf : .tus, faults: faults) {
        uploads, server in
        let content = [UInt8](variant.content)
        try await test(
          KillServer(server.origin + UploadServer.path, on: server, stalls) {
            let counts = uploads.counts(of: content)
            return Holdings(complete: counts.complete, incomplete: counts.incomplete, received: uploads.received)
          })
      }
    case .s3Call:
      let store = PartsOnServer(variant.content, stalls)
      let options = TestServer.Options(contentLimit: 1 << 24)
      try await TestServer.with(options: options) {
        store.reply(to: $0)
      } body: { server in
        try await test(KillServer("\(server.origin) films film.mp4", on: server, stalls) { store.holdings })
      }
    }
  }

  /// Returns the response of a server with ranges. If the server stalls, it sends half of the requested bytes.
  private static func reply(to request: RecordedRequest, _ content: Data, isStalling: Bool) -> Reply {
    let range = request.fields["Range"]
    let ends = (range ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    let (start, end) = (ends.first ?? 0, ends.count > 1 ? ends[1] + 1 : content.count)
    guard start < content.count else {
      return .status(416, fields: ["ETag": #""v1""#, "Content-Range": "bytes */\(content.count)"])
    }
    var fields: FieldLines = ["ETag": #""v1""#, "Content-Length": String(end - start)]
    if range != nil { fields["Content-Range"] = "bytes \(start)-\(end - 1)/\(content.count)" }
    let reply = Reply(steps: [
      .head(range == nil ? 200 : 206, fields: fields), .content([UInt8](content[start..<end])),
    ])
    return isStalling ? reply.stalling(at: .content((end - start) / 2)) : reply
  }
}

/// A switch that makes a server stall transfers before they are complete.
final class StallSwitch: Sendable {
  let isOn = Mutex(false)
  /// Whether stalls end only when all connections are closed.
  let lastsUntilClose: Bool

  init(lastsUntilClose: Bool = false) {
    self.lastsUntilClose = lastsUntilClose
  }

  var value: Bool { isOn.withLock(\.self) }
}

/// An S3 server with one object, which is uploaded in parts.
private final class PartsOnServer: Sendable {
  private struct State {
    var created = 0
    /// The parts of the uploads that are neither complete nor removed, by upload ID.
    var uploads: [String: [Int: [UInt8]]] = [:]
    var object: Data?
    var holdings = KillServer.Holdings()
  }

  private let state = Mutex(State())
  private let content: Data
  private let stalls: StallSwitch
  /// The checksum of the content.
  private let checksum: String

  init(_ content: Data, _ stalls: StallSwitch) {
    (self.content, self.stalls) = (content, stalls)
    var checksum = Checksum(.crc64nvme)
    checksum.update(content)
    self.checksum = checksum.text
  }

  var holdings: KillServer.Holdings {
    state.withLock { state in
      var holdings = state.holdings
      holdings.incomplete = state.uploads.count
      return holdings
    }
  }

  func reply(to request: RecordedRequest) -> Reply {
    let pairs = (request.query ?? "").split(separator: "&").map { item in
      let pair = item.split(separator: "=").map(String.init)
      return (pair[0], pair.count > 1 ? pair[1] : "")
    }
    let query = Dictionary(pairs) { $1 }
    let (id, number) = (query["uploadId"] ?? "", query["partNumber"].flatMap { Int($0) } ?? 0)
    if number > 1, stalls.value { return .stalled }
    return state.withLock { state in
      if query["uploads"] != nil {
        state.created += 1
        state.uploads["u\(state.created)"] = [:]
        return Self.document("<InitiateMultipartUploadResult><UploadId>u\(state.created)</UploadId>")
      }
      if request.method == "HEAD" {
        guard let object = state.object else { return .status(404) }
        return .status(
          200, fields: ["Content-Length": "\(object.count)", "x-amz-checksum-crc64nvme": checksum])
      }
      guard let parts = state.uploads[id] else { return Self.document("<Error><Code>NoSuchUpload</Code>", 404) }
      switch request.method {
      case "PUT":
        state.uploads[id]?[number] = request.content
        return .status(200, fields: ["ETag": "\"e\(number)\""])
      case "POST":
        state.uploads[id] = nil
        state.object = Data(parts.sorted { $0.key < $1.key }.flatMap(\.value))
        if state.object == content { state.holdings.complete += 1 }
        return Self.document("<CompleteMultipartUploadResult><ETag>\"all\"</ETag>")
      case "DELETE":
        state.uploads[id] = nil
        return .status(204)
      default:
        return Self.document("<ListPartsResult>" + parts.map { Self.element($0.key, $0.value) }.joined())
      }
    }
  }

  private static func element(_ number: Int, _ bytes: [UInt8]) -> String {
    var checksum = Checksum(.crc64nvme)
    checksum.update(Data(bytes))
    return "<Part><PartNumber>\(number)</PartNumber><ETag>\"e\(number)\"</ETag><Size>\(bytes.count)</Size>"
      + "<ChecksumCRC64NVME>\(checksum.text)</ChecksumCRC64NVME></Part>"
  }

  /// - Parameter text: the document without the closing tag of its first element.
  private static func document(_ text: String, _ status: Int = 200) -> Reply {
    let name = text.dropFirst().prefix { $0 != ">" }
    return .text("\(text)</\(name)>", status: status, fields: ["Content-Type": "application/xml"])
  }
}
#endif
