import ApusAWS
import ApusCore
import ApusTestServer
import ApusWaiting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Uploads whose responses arrive before their content was sent")
struct EarlyResponseTests {
  /// More bytes than the socket buffers of both ends hold.
  private static let length = 12_000_000

  enum Kind: String, CaseIterable, Sendable {
    case tus, ietf, creation

    var dialect: UploadServer.Dialect { self == .tus ? .tus : .ietf }

    var uploadProtocol: UploadProtocol {
      switch self {
      case .tus: .tus()
      case .ietf: .ietf(createsFirst: true)
      case .creation: .ietf()
      }
    }

    /// The number of the first request with content.
    var first: Int { self == .creation ? 0 : 1 }
  }

  /// Uploads a file to a server that reads no content of some requests, and closes the connection after a success.
  private func upload(
    _ kind: Kind, status: Int, early: @escaping @Sendable (RecordedRequest) -> Bool,
    _ check: (Outcome, UploadServer, TestServer) throws -> Void
  ) async throws {
    let (observer, never) = (HeadObserver(), Gate())
    try await UploadServer.with(kind.dialect) { request in
      guard early(request) else { return nil }
      // The server claims to have all bytes.
      let fields: FieldLines = [
        "Location": UploadServer.target(of: request), "Upload-Offset": "\(Self.length)", "Upload-Complete": "?1",
      ]
      return Reply.text("early", status: status, fields: status < 300 ? fields : [:])
        .inserting(status < 300 ? [.wait(observer.headArrived), .close] : [.wait(never)], at: .end)
    } _: { uploads, server in
      uploads.leaveUnread(early)
      try await UploadBench.with(server, observers: [observer]) { bench in
        let bytes = try bench.write(Self.length)
        let film = Request<Content>.post("/files", content: .file(bench.path))
        var outcome = Outcome()
        do throws(CallError) {
          outcome.value = try await bench.api.upload(film, by: kind.uploadProtocol, options: bench.options)
          #expect(uploads.has(bytes))
        } catch {
          outcome.error = error
        }
        never.open()
        try check(outcome, uploads, server)
      }
    }
  }

  @Test(
    "After an early success the upload requests the offset from the server, and continues", arguments: Kind.allCases)
  func success(kind: Kind) async throws {
    try await upload(kind, status: 200) {
      $0.number == kind.first
    } _: { outcome, _, server in
      #expect(outcome.error == nil && outcome.value?.size == Int64(Self.length))
      let (patch, create) = ("PATCH", "POST")
      #expect(
        server.exchanges.map(\.method) == (kind == .creation ? [create] : [create, patch]) + ["HEAD", patch])
    }
  }

  @Test("A server that always responds early ends the upload after five interruptions", arguments: [Kind.tus, .ietf])
  func always(kind: Kind) async throws {
    try await upload(kind, status: 200) {
      $0.method == "PATCH"
    } _: { outcome, _, server in
      #expect(outcome.error?.code == .connectionLost && outcome.error?.transfer?.problem == .interrupted)
      #expect(outcome.error?.detail.hasPrefix("the server responded 200 after ") == true)
      #expect(server.exchanges.count { $0.method == "PATCH" } == 6)
    }
  }

  @Test("An early 503 is an interruption", arguments: Kind.allCases)
  func unavailable(kind: Kind) async throws {
    try await upload(kind, status: 503) {
      $0.number == kind.first && kind != .creation
    } _: { outcome, _, _ in
      #expect(outcome.error == nil && outcome.value?.size == Int64(Self.length))
    }
  }

  @Test("An early rejection or redirect ends the upload with its status", arguments: Kind.allCases, [304, 403])
  func rejected(kind: Kind, status: Int) async throws {
    try await upload(kind, status: status) {
      $0.number == kind.first
    } _: { outcome, _, server in
      #expect(outcome.error?.code == .rejected && outcome.error?.status == status)
      #expect(server.exchanges.count == kind.first + 1)
    }
  }
}

extension EarlyResponseTests {
  /// Sends a file in one request to a server that responds to the head and reads no content.
  private func sendAtOnce(
    _ status: Int, _ send: @Sendable (Client, _ path: String) async throws -> Void
  ) async throws {
    let (observer, never) = (HeadObserver(), Gate())
    var options = TestServer.Options(contentLimit: 1 << 10, repliesAt: .head)
    options.stopsReadingAtHead = { _ in true }
    try await TestServer.with(options: options) { _ in
      Reply.text("early", status: status)
        .inserting(status < 300 ? [.wait(observer.headArrived), .close] : [.wait(never)], at: .end)
    } body: { server in
      try await UploadBench.with(server, observers: [observer]) { bench in
        try bench.write(Self.length)
        let error = await failure { try await send(bench.api, bench.path) }
        never.open()
        #expect(error?.code == (status < 300 ? .connectionLost : .rejected))
        #expect(error?.status == status && error?.requestState == .responded)
        if status < 300 { #expect(error?.detail.hasPrefix("the server responded \(status) after ") == true) }
        #expect(server.exchanges.count == 1)
      }
    }
  }

  @Test("A file sent in one request fails with the status of an early response", arguments: [200, 201, 304, 403, 501])
  func plain(status: Int) async throws {
    try await sendAtOnce(status) { try await $0.send(Request<Void>.put("/films/ran", content: .file($1))) }
  }

  @Test(
    "An object of S3 sent in one request fails with the status of an early response", arguments: [200, 304, 403, 501])
  func object(status: Int) async throws {
    try await sendAtOnce(status) { client, path in
      var options = S3UploadOptions()
      options.partSize = 64 << 20
      _ = try await S3(client, region: "eu-west-1", credentials: nil).bucket("films").upload(
        path, to: "ran.mp4", options: options)
    }
  }
}

private struct Outcome {
  var value: UploadResult<Content>?
  var error: CallError?
}

/// An observer of the heads of early successes.
private final class HeadObserver: CallObserver {
  let headArrived = Gate()

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .headArrived(let status) = event.kind, status < 300 { headArrived.release() }
  }
}
