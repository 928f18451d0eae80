import ApusTestServer
import ApusWaiting
import Foundation
import Synchronization

/// A server that stores uploads by tus or the IETF draft. It stores the received bytes of an interrupted request.
///
/// It counts the bytes in the exchanges that the test server has recorded, so it writes no file.
final class UploadServer: Sendable {
  enum Dialect: String, Sendable, CaseIterable {
    case tus
    case ietf
  }

  /// A request that stores bytes of an upload.
  private struct Segment {
    let exchange: Int
    let range: Range<Int>
  }

  private struct State {
    var server: TestServer?
    var lengths: [String: Int] = [:]
    /// The uploads that were removed, or that the server no longer has after their completion.
    var gone: Set<String> = []
    var completed: Set<String> = []
    /// The number of bytes of each interrupted request when the offset was stated. Later bytes of the request are
    /// ignored.
    var frozen: [Int: Int] = [:]
    /// Whether the server leaves the content of a request unread, because the overriding reply announces an upload.
    var unread: @Sendable (RecordedRequest) -> Bool = { _ in false }
    /// The value of `Upload-Limit` in all responses.
    var limits: String?
  }

  let dialect: Dialect
  private let state = Mutex(State())
  /// Returns a reply that overrides the server's. `nil`: the server replies.
  private let override: @Sendable (RecordedRequest) -> Reply?

  private init(_ dialect: Dialect, _ override: @escaping @Sendable (RecordedRequest) -> Reply?) {
    (self.dialect, self.override) = (dialect, override)
  }

  /// Runs a test with a server.
  ///
  /// - Parameters:
  ///   - faults: the faults of the test server.
  ///   - override: returns replies that override the server's. Called when the head of a request has arrived.
  static func with<Result>(
    _ dialect: Dialect, faults: [Fault] = [],
    override: @escaping @Sendable (RecordedRequest) -> Reply? = { _ in nil },
    _ test: (UploadServer, TestServer) async throws -> Result
  ) async throws -> Result {
    let uploads = UploadServer(dialect, override)
    var options = TestServer.Options(contentLimit: 1 << 30, repliesAt: .head, faults: faults)
    options.stopsReadingAtHead = { uploads.isUnread($0) }
    return try await TestServer.with(options: options) {
      await uploads.reply(to: $0)
    } body: { server in
      uploads.state.withLock { $0.server = server }
      defer { uploads.state.withLock { $0.server = nil } }
      return try await test(uploads, server)
    }
  }

  /// Returns faults after which the server stops reading: in run `n` when `stops[n]` bytes of content have arrived, and
  /// never in later runs. With these faults a test can kill the sending process in the middle of an upload, even on a
  /// busy machine.
  static func stalls(after stops: [Int], run: @escaping @Sendable () -> Int) -> [Fault] {
    let never = Gate()
    return stops.enumerated().map { number, stop in
      Fault(
        at: .requestContent(after: stop), .stall(until: never),
        on: .matching { ($0.request?.fields["Content-Length"] ?? "0") != "0" && run() == number })
    }
  }

  /// The path that creates uploads.
  static let path = "/files"

  /// Returns the target of the upload that a request created.
  static func target(of request: RecordedRequest) -> String { "/files/upload-\(request.number)" }

  // MARK: Stored bytes

  private func segments(of target: String) -> [Segment] {
    let (exchanges, frozen) = state.withLock { ($0.server?.exchanges ?? [], $0.frozen) }
    var segments: [Segment] = []
    var end = 0
    for exchange in exchanges where exchange.contentLength > 0 {
      let isCreation = exchange.method != "PATCH" && Self.target(of: exchange.request) == target
      guard isCreation || (exchange.method == "PATCH" && exchange.target == target) else { continue }
      guard Int(exchange.request.fields["Upload-Offset"] ?? "0") == end else { continue }
      let count = frozen[exchange.id] ?? exchange.contentLength
      segments.append(Segment(exchange: exchange.id, range: end..<end + count))
      end += count
    }
    return segments
  }

  /// Returns the number of stored bytes of an upload.
  func offset(of target: String) -> Int { segments(of: target).last?.range.upperBound ?? 0 }

  /// Returns the stored bytes of an upload.
  func bytes(of target: String) -> [UInt8] {
    let exchanges = state.withLock { $0.server?.exchanges ?? [] }
    var contents: [Int: [UInt8]] = [:]
    for exchange in exchanges { contents[exchange.id] = exchange.content }
    return segments(of: target).flatMap { Array((contents[$0.exchange] ?? []).prefix($0.range.count)) }
  }

  /// Returns whether an upload consists of these bytes. A test that compares large arrays in `#expect` takes minutes if
  /// they differ.
  func has(_ bytes: [UInt8], in target: String = "/files/upload-0") -> Bool { self.bytes(of: target) == bytes }

  /// Returns the number of uploads that consist of these bytes, and the number of uploads that are neither complete nor
  /// removed.
  func counts(of bytes: [UInt8]) -> (complete: Int, incomplete: Int) {
    let (known, gone) = state.withLock { (Set($0.lengths.keys), $0.gone) }
    let complete = known.filter { has(bytes, in: $0) }
    return (complete.count, known.subtracting(complete).subtracting(gone).count)
  }

  /// The number of stored content bytes of all requests, without the bytes of an interrupted request that arrived after
  /// its upload was located.
  var received: Int {
    state.withLock { state in
      state.server?.exchanges.reduce(0) { $0 + (state.frozen[$1.id] ?? $1.contentLength) } ?? 0
    }
  }

  /// States limits in all further responses.
  func state(limits: String?) {
    state.withLock { $0.limits = limits }
  }

  /// Returns fields (headers) with the limits.
  private func limited(_ fields: FieldLines) -> FieldLines {
    var fields = fields
    if let limits = state.withLock({ $0.limits }) { fields.append(FieldLine(name: "Upload-Limit", value: limits)) }
    return fields
  }

  /// Leaves the content of matching requests unread. The overriding replies to them announce uploads.
  func leaveUnread(_ matches: @escaping @Sendable (RecordedRequest) -> Bool) {
    state.withLock { $0.unread = matches }
  }

  private func isUnread(_ request: RecordedRequest) -> Bool { state.withLock { $0.unread }(request) }

  /// Removes an upload, as a server does when the upload has expired.
  func forget(_ target: String) {
    state.withLock { _ = $0.gone.insert(target) }
  }

  // MARK: Replies

  private func reply(to request: RecordedRequest) async -> Reply {
    if let reply = override(request) {
      state.withLock { state in
        state.frozen[request.number] = 0
        if state.unread(request), let length = request.fields["Upload-Length"].flatMap({ Int($0) }) {
          state.lengths[Self.target(of: request)] = length
        }
      }
      return reply
    }
    switch request.method {
    case "HEAD": return locate(request)
    case "PATCH": return await append(request)
    case "DELETE":
      forget(request.target)
      return .status(204)
    default: return await create(request)
    }
  }

  /// Waits until all content of a request has arrived. Returns `false` if the connection ends before.
  private func receivesAll(of request: RecordedRequest) async -> Bool {
    guard let server = state.withLock({ $0.server }) else { return false }
    return (try? await server.exchange { $0.id == request.number && $0.request.isComplete }) != nil
  }

  private func create(_ request: RecordedRequest) async -> Reply {
    let target = Self.target(of: request)
    let length = Int(request.fields["Upload-Length"] ?? "") ?? 0
    state.withLock { $0.lengths[target] = length }
    guard dialect == .ietf else { return .status(201, fields: ["Location": target]) }
    guard request.fields["Upload-Complete"] == "?1" else {
      return .status(201, fields: limited(["Location": target]))
    }
    let gate = Gate()
    Task {
      guard await receivesAll(of: request) else { return }
      state.withLock { _ = $0.completed.insert(target) }
      gate.open()
    }
    return Reply.json(#"{"size":\#(length)}"#, status: 201, fields: ["Upload-Complete": "?1"])
      .waiting(for: gate)
      .interim(104, fields: limited(["Location": target, "Upload-Draft-Interop-Version": "8"]))
  }

  /// Ignores all further bytes of running requests of an upload. Returns the number of stored bytes.
  private func freeze(_ target: String) -> Int {
    let segments = segments(of: target)
    state.withLock { state in
      for segment in segments { state.frozen[segment.exchange] = segment.range.count }
      // Includes requests whose first byte has not arrived yet.
      for exchange in state.server?.exchanges ?? [] where exchange.method == "PATCH" && exchange.target == target {
        if state.frozen[exchange.id] == nil { state.frozen[exchange.id] = 0 }
      }
    }
    return segments.last?.range.upperBound ?? 0
  }

  private func isKnown(_ target: String) -> Bool {
    state.withLock { $0.lengths[target] != nil && !$0.gone.contains(target) }
  }

  private func locate(_ request: RecordedRequest) -> Reply {
    guard isKnown(request.target) else { return .status(404) }
    let offset = freeze(request.target)
    let isComplete = state.withLock { $0.completed.contains(request.target) }
    return .status(
      204,
      fields: limited([
        "Upload-Offset": String(offset), "Upload-Complete": isComplete ? "?1" : "?0", "Cache-Control": "no-store",
      ]))
  }

  private func append(_ request: RecordedRequest) async -> Reply {
    let target = request.target
    guard isKnown(target) else { return .status(404) }
    // The offset is not compared with the number of stored bytes, which may already include bytes of this request.
    let start = Int(request.fields["Upload-Offset"] ?? "") ?? -1
    guard await receivesAll(of: request) else { return Reply(steps: []) }
    guard
      segments(of: target).contains(where: { $0.exchange == request.number }) || request.fields["Content-Length"] == "0"
    else { return .status(409, fields: ["Upload-Offset": String(offset(of: target))]) }
    let offset = offset(of: target)
    guard dialect == .ietf, request.fields["Upload-Complete"] == "?1", start >= 0 else {
      return .status(204, fields: ["Upload-Offset": String(offset), "Upload-Complete": "?0"])
    }
    state.withLock { _ = $0.completed.insert(target) }
    return .json(#"{"size":\#(offset)}"#, fields: ["Upload-Complete": "?1"])
  }
}
