import ApusCore
import ApusTesting
import ApusTransfers
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

/// An in-memory server with one object that is uploaded in parts.
private final class PartStore: Sendable {
  struct State {
    var parts: [Int: (size: Int, checksum: String)] = [:]
    var object: (size: Int, checksum: String)?
    var uploads = 0
    /// The outcome of the next completion, in place of a correct response.
    var completion: Completion?
    var isCompletionRepeated = false
    var completed = ""
    /// The contents that replace the next lists of parts.
    var lists: [String] = []
    /// Whether a list of parts is always empty and never ends.
    var listsForEver = false
  }

  enum Completion {
    /// The object is completed, and the response is lost.
    case lost
    /// A response with status 200 contains an error.
    case error
    /// A response with status 200 contains other content, and the object is not completed.
    case content(String)
    /// The object is completed, and a response with status 200 contains other content.
    case completeWith(String)
  }

  let state = Mutex(State())
  let stub = StubTransport()
  private let pageSize: Int

  init(pageSize: Int = 1000) {
    self.pageSize = pageSize
  }

  func start() {
    stub.on(where: { _, _ in true }, reply: { [self] exchange in try reply(to: exchange) })
  }

  private func reply(to exchange: StubExchange) throws -> StubReply {
    let query = exchange.target.split(separator: "?").last.map(String.init) ?? ""
    let parameters = Dictionary(
      query.split(separator: "&").map { item in
        let pair = item.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        return (pair[0], pair.count > 1 ? pair[1] : "")
      }
    ) { $1 }
    let checksum = HTTPField.Name("x-amz-checksum-crc64nvme").flatMap { exchange.fields[$0] } ?? ""
    let number = parameters["partNumber"].flatMap { Int($0) }
    return try state.withLock { state in
      if exchange.method != .post, exchange.method != .head, parameters["uploadId"] != nil,
        parameters["uploadId"] != "u\(state.uploads)"
      {
        return error("NoSuchUpload", 404)
      }
      switch exchange.method {
      case .post where parameters["uploads"] != nil:
        state.uploads += 1
        state.parts = [:]
        return .text(
          "<InitiateMultipartUploadResult><UploadId>u\(state.uploads)</UploadId></InitiateMultipartUploadResult>")
      case .put:
        guard let number else { return .status(400) }
        state.parts[number] = (exchange.content.count, checksum)
        return .status(200, fields: [.eTag: "\"e\(number)\""])
      case .get where !state.lists.isEmpty: return .bytes(Data(state.lists.removeFirst().utf8), type: "text/html")
      case .get where state.listsForEver:
        let marker = (parameters["part-number-marker"].flatMap { Int($0) } ?? 0) + 1
        return .text(
          "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>\(marker)</NextPartNumberMarker>"
            + "</ListPartsResult>")
      case .get: return list(state, after: parameters["part-number-marker"].flatMap { Int($0) } ?? 0)
      case .post: return try complete(&state, exchange)
      case .head:
        guard let object = state.object, let name = HTTPField.Name("x-amz-checksum-crc64nvme") else {
          return .status(404)
        }
        return .status(200, fields: [name: object.checksum, .contentLength: "\(object.size)"])
      case .delete:
        state.parts = [:]
        return .status(204)
      default: return .status(405)
      }
    }
  }

  private func list(_ state: State, after marker: Int) -> StubReply {
    let numbers = state.parts.keys.sorted().filter { $0 > marker }
    let page = numbers.prefix(pageSize)
    let parts = page.map { number in
      "<Part><PartNumber>\(number)</PartNumber><ETag>\"e\(number)\"</ETag><Size>\(state.parts[number]?.size ?? 0)</Size>"
        + "<ChecksumCRC64NVME>\(state.parts[number]?.checksum ?? "")</ChecksumCRC64NVME></Part>"
    }
    return .text(
      "<ListPartsResult><IsTruncated>\(page.count < numbers.count)</IsTruncated><NextPartNumberMarker>\(page.last ?? 0)"
        + "</NextPartNumberMarker>\(parts.joined())</ListPartsResult>")
  }

  private func complete(_ state: inout State, _ exchange: StubExchange) throws -> StubReply {
    let completion = state.completion
    if !state.isCompletionRepeated { state.completion = nil }
    switch completion {
    case .error: return error("InternalError", 200)
    case .content(let text): return .bytes(Data(text.utf8), type: "text/html")
    case .completeWith, .lost, nil: break
    }
    state.completed = exchange.text
    state.object = (state.parts.values.reduce(0) { $0 + $1.size }, Self.checksumOfObject)
    state.uploads += 1
    if case .lost = completion { throw TransportError(.connectionLost, requestState: .maybeSent) }
    if case .completeWith(let text) = completion { return .bytes(Data(text.utf8), type: "text/html") }
    return .text("<CompleteMultipartUploadResult><ETag>\"all-3\"</ETag></CompleteMultipartUploadResult>")
  }

  private func error(_ code: String, _ status: Int) -> StubReply {
    .bytes(Data("<Error><Code>\(code)</Code></Error>".utf8), type: "application/xml", status: status)
  }

  /// The checksum of the content in ``S3MultipartTests/content``.
  static let checksumOfObject: String = {
    var stream = Checksum(.crc64nvme)
    stream.update(S3MultipartTests.content)
    return stream.text
  }()

  func puts() -> Int { stub.exchanges.count { $0.method == .put } }
}

@Suite("S3: uploads in parts")
struct S3MultipartTests {
  /// Content for two parts of 5 MiB and a shorter third part.
  static let content = Data(repeating: 7, count: 12_000_000)

  private func withFile(
    _ store: PartStore, _ test: (S3Bucket, _ path: String, S3UploadOptions) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-parts-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Self.content.write(to: URL(filePath: "\(folder)/film.mp4"))
    store.start()
    var settings = ClientSettings()
    settings.runtime.random = { 0 }
    let client = Client(
      environment: Environment(baseURL: "https://s3.example.com"), transport: store.stub, settings: settings)
    var options = S3UploadOptions(store: FileTransferStore("\(folder)/store"))
    options.partSize = 5 << 20
    let bucket = S3(client, region: "r", credentials: AWSCredentials.example).bucket("films")
    try await test(bucket, "\(folder)/film.mp4", options)
  }

  @Test("Parts have equal sizes, numbers and checksums, and the completion lists all parts in order")
  func parts() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      var options = options
      options.object = S3PutOptions(metadata: ["year": "1985"], fields: [RawField("If-None-Match", "*")])
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.value.entityTag == "\"all-3\"" && result.value.size == 12_000_000 && result.value.key == "ran.mp4")
      #expect((result.size, result.resumedBytes, result.status, result.url) == (12_000_000, 0, 200, nil))
      let state = store.state.withLock { $0.parts }
      #expect(state.keys.sorted() == [1, 2, 3] && state[1]?.size == 5 << 20 && state[3]?.size == 12_000_000 - 10 << 20)
      let create = try #require(store.stub.exchanges.first)
      #expect(create.target == "/films/ran.mp4?uploads=" && create.fields[.ifNoneMatch] == nil)
      #expect(create.fields[.contentType] == "video/mp4")
      #expect(HTTPField.Name("x-amz-meta-year").flatMap { create.fields[$0] } == "1985")
      let last = try #require(store.stub.exchanges.last)
      #expect(last.fields[.ifNoneMatch] == "*")
      let tree = try XMLReader.read(last.content)
      #expect(tree.all("Part").map { $0.text(of: "PartNumber") } == ["1", "2", "3"])
      #expect(tree.all("Part").map { $0.text(of: "ChecksumCRC64NVME") } == [1, 2, 3].map { state[$0]?.checksum })
    }
  }

  /// A success that arrives before all content was sent.
  private static let early = TransportError.incompleteRequest(
    ResponseMessage(head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"early\""])), sent: 1, of: 2)

  @Test("A part whose success arrives before its content was sent is resent")
  func earlySuccess() async throws {
    let store = PartStore()
    let isFirst = Mutex(true)
    try await withFile(store) { bucket, path, options in
      store.stub.on(
        where: { request, _ in
          let isPart = request.target.contains("partNumber=2&")
          return isPart && isFirst.withLock { $0 }
        },
        reply: { _ in
          isFirst.withLock { $0 = false }
          return .failure(Self.early)
        })
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.value.entityTag == "\"all-3\"" && store.puts() == 4)
      #expect(!store.state.withLock { $0.completed }.contains("early"))
    }
  }

  @Test("The upload of an object in one request fails if a success arrives before its content was sent")
  func earlySuccessOfObject() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      store.stub.onAny(reply: .failure(Self.early))
      var options = options
      options.partSize = 64 << 20
      let error = await failure { try await bucket.upload(path, to: "ran.mp4", options: options) }
      #expect(error?.code == .connectionLost && error?.requestState == .responded)
      #expect(store.stub.exchanges.count == 1)
    }
  }

  @Test("A completion that fails in a response with status 200 is repeated")
  func lateFailure() async throws {
    let store = PartStore()
    store.state.withLock { $0.completion = .error }
    try await withFile(store) { bucket, path, options in
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.value.entityTag == "\"all-3\"")
      #expect(store.puts() == 3)
    }
  }

  private static let falseCompletions = [
    "", " \n", "<!DOCTYPE html><html><body>Sign in</body></html>", "{}", "<CompleteMultipartUploadResult><ETag>",
    "<CopyObjectResult></CopyObjectResult>",
  ]

  @Test("A completion whose response has status 200 but no result is repeated", arguments: falseCompletions)
  func falseCompletion(content: String) async throws {
    let store = PartStore()
    store.state.withLock { $0.completion = .content(content) }
    try await withFile(store) { bucket, path, options in
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.value.entityTag == "\"all-3\"" && store.puts() == 3)
      #expect(store.state.withLock { $0.object } != nil)
    }
  }

  @Test("An upload whose completion never receives a result fails", arguments: falseCompletions)
  func neverCompleted(content: String) async throws {
    let store = PartStore()
    store.state.withLock { ($0.completion, $0.isCompletionRepeated) = (.content(content), true) }
    try await withFile(store) { bucket, path, options in
      let error = await failure { try await bucket.upload(path, to: "ran.mp4", options: options) }
      #expect(error?.transfer?.keptBytes == 12_000_000)
      #expect(store.puts() == 3 && store.state.withLock { $0.object } == nil)
      // A later call continues with the stored parts.
      store.state.withLock { ($0.completion, $0.isCompletionRepeated) = (nil, false) }
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.resumedBytes == 12_000_000)
      #expect(store.puts() == 3)
    }
  }

  @Test(
    "If the result of a completion is lost, the object's checksum proves that the upload is complete")
  func lostResult() async throws {
    let store = PartStore()
    store.state.withLock { $0.completion = .completeWith("<html/>") }
    try await withFile(store) { bucket, path, options in
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.size == 12_000_000 && store.puts() == 3)
      #expect(store.stub.exchanges.last?.method == .head)
    }
  }

  /// Starts an upload whose third part fails.
  private func interrupt(_ store: PartStore, _ bucket: S3Bucket, _ path: String, _ options: S3UploadOptions) async {
    var first = options
    first.maximumParallelParts = 1
    store.stub.on(where: { request, _ in request.target.contains("partNumber=3&") }, reply: { _ in .status(403) })
    _ = await failure { try await bucket.upload(path, to: "ran.mp4", options: first) }
    store.start()
  }

  @Test("If the list of parts is another document, it is requested again, and no part is sent twice")
  func falseList() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      await interrupt(store, bucket, path, options)
      store.state.withLock { $0.lists = ["", "<html><body>Sign in</body></html>"] }
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.resumedBytes == 10 << 20 && store.puts() == 4)
    }
  }

  @Test("A list whose pages contain no parts ends after 100 pages")
  func endlessList() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      await interrupt(store, bucket, path, options)
      store.state.withLock { $0.listsForEver = true }
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.size == 12_000_000 && store.stub.exchanges.count { $0.method == .get } == 100)
    }
  }

  @Test("A list of parts whose markers do not increase ends", arguments: [0, 1])
  func stuckList(marker: Int) async throws {
    let store = PartStore()
    let page =
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>\(marker)</NextPartNumberMarker>"
      + "</ListPartsResult>"
    try await withFile(store) { bucket, path, options in
      await interrupt(store, bucket, path, options)
      store.state.withLock { $0.lists = [page, page.replacing(">1<", with: ">0<"), page] }
      _ = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(store.state.withLock { $0.lists.count } == 2 - marker)
    }
  }

  @Test("If the response to the completion is lost, the object's checksum proves that the upload is complete")
  func lostCompletion() async throws {
    let store = PartStore()
    store.state.withLock { $0.completion = .lost }
    try await withFile(store) { bucket, path, options in
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.size == 12_000_000 && store.puts() == 3)
      #expect(store.stub.exchanges.last?.method == .head)
    }
  }

  @Test("A later call sends only the parts that the server's list, which may have several pages, does not contain")
  func resumed() async throws {
    let store = PartStore(pageSize: 1)
    try await withFile(store) { bucket, path, options in
      var first = options
      first.maximumParallelParts = 1
      store.stub.on(
        where: { request, _ in request.target.contains("partNumber=3&") },
        reply: { _ in .status(403) })
      let error = await failure { try await bucket.upload(path, to: "ran.mp4", options: first) }
      #expect(error?.status == 403 && error?.transfer?.keptBytes == 10 << 20)
      store.start()
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.resumedBytes == 10 << 20 && store.puts() == 4)
    }
  }

  @Test("Parts of another size from an upload that the server no longer has are not used")
  func forgotten() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      store.stub.on(
        where: { request, _ in request.target.contains("partNumber=3&") },
        reply: { _ in .status(403) })
      _ = await failure { try await bucket.upload(path, to: "ran.mp4", options: options) }
      store.state.withLock { $0.uploads += 1 }
      store.start()
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.resumedBytes == 0 && result.size == 12_000_000)
    }
  }

  @Test(
    "An upload that cannot continue is removed from the server",
    arguments: ["changed", "partSize", "shrunk", "discarded"])
  func abandoned(cause: String) async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      store.stub.on(where: { request, _ in request.target.contains("partNumber=3&") }, reply: { _ in .status(403) })
      _ = await failure { try await bucket.upload(path, to: "ran.mp4", options: options) }
      store.start()
      var later = options
      if cause == "partSize" {
        later.partSize = 6 << 20
      } else {
        let content = cause == "shrunk" ? Data(repeating: 8, count: 100) : Self.content + Data([1])
        try content.write(to: URL(filePath: path))
      }
      if cause == "discarded" {
        try await bucket.discardUpload(of: path, to: "ran.mp4", options: later)
      } else if cause == "shrunk" {
        store.stub.on(.put, "/films/ran.mp4", reply: .status(200, fields: [.eTag: "\"one\""]))
        try await bucket.upload(path, to: "ran.mp4", options: later)
      } else {
        let result = try await bucket.upload(path, to: "ran.mp4", options: later)
        #expect(result.resumedBytes == 0)
      }
      let removals = store.stub.exchanges.filter { $0.method == .delete }.map(\.target)
      #expect(removals == ["/films/ran.mp4?uploadId=u1"])
    }
  }

  @Test("A small file is sent with one request, and a missing file fails the upload before a request is sent")
  func small() async throws {
    let store = PartStore()
    try await withFile(store) { bucket, path, options in
      store.stub.onAny(reply: .status(200, fields: [.eTag: "\"one\""]))
      var options = options
      options.partSize = 64 << 20
      let result = try await bucket.upload(path, to: "ran.mp4", options: options)
      #expect(result.value.entityTag == "\"one\"")
      #expect(store.stub.exchanges.map(\.target) == ["/films/ran.mp4"])
      #expect(await failure { try await bucket.upload(path + "x", to: "a") }?.code == .encoding)
      #expect(store.stub.exchanges.count == 1)
    }
  }
}
