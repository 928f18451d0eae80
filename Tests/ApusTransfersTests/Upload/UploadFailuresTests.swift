import ApusCore
import ApusTestServer
import ApusWaiting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Uploads that servers reject, lose or contradict")
struct UploadFailuresTests {
  /// Uploads a file of 100,000 bytes to a server that overrides the replies to some requests.
  private func upload(
    _ dialect: UploadServer.Dialect, _ variation: Variation = Variation(),
    override: @escaping @Sendable (RecordedRequest) -> Reply?,
    _ check: (Outcome, UploadServer, TestServer) throws -> Void
  ) async throws {
    try await UploadServer.with(dialect, faults: variation.faults, override: override) { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(100_000)
        let film = Request<Content>.post("/files", content: .file(bench.path))
        var outcome = Outcome()
        do throws(CallError) {
          outcome.value = try await bench.api.upload(
            film, by: variation.uploadProtocol ?? dialect.uploadProtocol, options: bench.options)
        } catch {
          outcome.error = error
        }
        try check(outcome, uploads, server)
      }
    }
  }

  @Test("A rejected creation is the call's rejection", arguments: UploadServer.Dialect.allCases)
  func rejected(_ dialect: UploadServer.Dialect) async throws {
    try await upload(dialect) { _ in
      .json(#"{"message":"No space for films"}"#, status: 403)
    } _: { result, _, server in
      let error = result.error
      #expect(error?.code == .rejected && error?.status == 403 && error?.rejection?.message == "No space for films")
      #expect(error?.transfer?.keptBytes == 0 && server.exchanges.count == 1)
    }
  }

  @Test("tus: if the server has another offset, the upload requests it and continues from there")
  func conflict() async throws {
    try await upload(.tus) { request in
      request.number == 1 ? .status(409) : nil
    } _: { result, uploads, server in
      #expect(result.value?.size == 100_000 && uploads.offset(of: "/files/upload-0") == 100_000)
      #expect(server.exchanges.map(\.method) == ["POST", "PATCH", "HEAD", "PATCH"])
    }
  }

  @Test("After 423 or 503 an upload is retried after the requested delay")
  func locked() async throws {
    try await upload(.tus) { request in
      switch request.number {
      case 1: .status(423)
      case 2: .status(503, fields: ["Retry-After": "0"])
      default: nil
      }
    } _: { result, _, server in
      #expect(result.value?.size == 100_000)
      #expect(server.exchanges.map(\.method) == ["POST", "PATCH", "HEAD", "HEAD", "PATCH"])
    }
  }

  @Test("A server that requests a delay of more than a minute ends the upload, and the error contains the delay")
  func longDelay() async throws {
    try await upload(.tus) { request in
      request.number == 1 ? .status(503, fields: ["Retry-After": "3600"]) : nil
    } _: { result, _, server in
      #expect(result.error?.status == 503 && result.error?.retryAfter == .seconds(3600))
      #expect(server.exchanges.count == 2)
    }
  }

  @Test("A server that keeps failing ends the upload after six attempts, and the record stays")
  func keepsFailing() async throws {
    try await upload(.tus) { request in
      request.method == "POST" ? nil : .status(502)
    } _: { result, _, server in
      #expect(result.error?.status == 502 && result.error?.transfer?.problem == .interrupted)
      #expect(server.exchanges.count == 7)
    }
  }

  @Test("tus: an upload that the server no longer has starts over")
  func gone() async throws {
    try await upload(.tus) { request in
      request.number == 1 ? .status(410) : nil
    } _: { result, uploads, server in
      #expect(result.value?.size == 100_000 && uploads.offset(of: "/files/upload-2") == 100_000)
      #expect(server.exchanges.map(\.method) == ["POST", "PATCH", "POST", "PATCH"])
    }
  }

  @Test("IETF draft: an upload that the server no longer has is not repeated, because it may have been complete")
  func ietfGone() async throws {
    let fault = Fault(at: .requestContent(after: 50_000), .reset, on: .request(0))
    try await upload(.ietf, Variation(faults: [fault])) { request in
      request.method == "HEAD" ? .status(404) : nil
    } _: { result, _, server in
      #expect(result.error?.code == .connectionLost && result.error?.transfer?.problem == .uploadGone)
      #expect(result.error?.description.contains("the same call starts again") == true)
      #expect(server.exchanges.map(\.method) == ["POST", "HEAD"])
    }
  }

  @Test("IETF draft: without an announced upload, an interrupted request is not repeated")
  func ietfUnannounced() async throws {
    let fault = Fault(at: .requestContent(after: 50_000), .reset, on: .request(0))
    try await upload(.ietf, Variation(faults: [fault])) { _ in
      Reply(steps: [.interim(104, fields: ["Location": "/files/upload-0"]), .stall])
    } _: { result, _, server in
      // An interim response of another version of the draft is ignored.
      #expect(result.error?.code == .connectionLost && server.exchanges.count == 1)
      #expect(result.error?.transfer?.keptBytes == 0)
    }
  }

  @Test("IETF draft: a response to the complete content is final with any status")
  func ietfFinal() async throws {
    let fault = Fault(at: .requestContent(after: 50_000), .reset, on: .request(0))
    try await upload(.ietf, Variation(faults: [fault])) { request in
      request.method == "PATCH"
        ? .json(#"{"message":"Not a film"}"#, status: 503, fields: ["Upload-Complete": "?1"]) : nil
    } _: { result, _, server in
      #expect(result.error?.status == 503 && result.error?.rejection?.message == "Not a film")
      #expect(server.exchanges.map(\.method) == ["POST", "HEAD", "PATCH"])
    }
  }

  @Test("IETF draft: a success that does not state whether the upload is complete is confirmed")
  func ietfConfirms() async throws {
    try await upload(.ietf, Variation(uploadProtocol: .ietf(createsFirst: true))) { request in
      switch request.method {
      case "PATCH" where request.number == 1: .json(#"{"size":1}"#)
      case "HEAD": .status(204, fields: ["Upload-Complete": "?1", "Upload-Offset": "100000"])
      default: nil
      }
    } _: { result, _, server in
      #expect(result.value?.value.data == Data(#"{"size":1}"#.utf8))
      #expect(server.exchanges.map(\.method) == ["POST", "PATCH", "HEAD"])
    }
  }

  @Test("IETF draft: after a success that states an incomplete upload, the upload continues at the server's offset")
  func ietfIncomplete() async throws {
    try await upload(.ietf) { request in
      switch request.method {
      case "POST": .status(201, fields: ["Upload-Complete": "?0", "Location": "/files/upload-0"])
      case "HEAD": .status(204, fields: ["Upload-Complete": "?0", "Upload-Offset": "60000"])
      default: .json(#"{"size":100000}"#, fields: ["Upload-Complete": "?1"])
      }
    } _: { result, _, server in
      #expect(result.value?.value.data == Data(#"{"size":100000}"#.utf8))
      #expect(server.exchanges.map(\.method) == ["POST", "HEAD", "PATCH"])
      #expect(server.exchanges.last?.request.fields["Upload-Offset"] == "60000")
    }
  }

  @Test("IETF draft: a success that states an incomplete upload but no URL fails the upload")
  func ietfIncompleteWithoutLocation() async throws {
    try await upload(.ietf) { _ in
      .status(201, fields: ["Upload-Complete": "?0"])
    } _: { result, _, server in
      #expect(result.error?.code == .malformedResponse && result.error?.transfer?.problem == .noLocation)
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("IETF draft: parts do not exceed the maximum that the server states")
  func ietfParts() async throws {
    try await upload(.ietf, Variation(uploadProtocol: .ietf(createsFirst: true))) { request in
      request.number == 0
        ? .status(201, fields: ["Location": "/files/upload-0", "Upload-Limit": "max-append-size=40000, max-age=60"])
        : nil
    } _: { result, uploads, server in
      // The test itself replied to the creation, so the server does not have the upload.
      #expect(result.error?.transfer?.problem == .uploadGone)
      #expect(server.exchanges[1].request.fields["Upload-Complete"] == "?0")
      #expect(server.exchanges[1].request.fields["Content-Length"] == "40000")
    }
    try await upload(.ietf, Variation(uploadProtocol: .ietf(createsFirst: true))) { request in
      request.number == 0 ? .status(201, fields: ["Location": "/f", "Upload-Limit": "max-size=99999"]) : nil
    } _: { result, _, _ in
      #expect(result.error?.code == .refused && result.error?.transfer?.problem == .contentTooLarge(limit: 99_999))
    }
  }

  @Test("A creation without a usable URL is an error", arguments: ["", "ftp://a.example/x", "https://user@a.example/"])
  func noLocation(_ location: String) async throws {
    try await upload(.tus) { _ in
      .status(201, fields: location.isEmpty ? [:] : ["Location": location])
    } _: { result, _, _ in
      #expect(result.error?.code == .malformedResponse && result.error?.transfer?.problem == .noLocation)
    }
  }

  @Test(
    "An offset that is impossible for the upload is an error",
    arguments: [
      ["Upload-Offset": "100001"], ["Upload-Offset": "-1"], [:], ["Upload-Offset": "0", "Upload-Length": "7"],
    ])
  func offsets(_ fields: [String: String]) async throws {
    var lines: FieldLines = [:]
    for (name, value) in fields { lines.append(FieldLine(name: name, value: value)) }
    try await upload(.tus) { [lines] request in
      switch request.method {
      case "PATCH": .status(409)
      case "HEAD": .status(204, fields: lines)
      default: nil
      }
    } _: { result, _, _ in
      #expect(result.error?.code == .malformedResponse && result.error?.transfer?.problem == .unusableOffset)
      #expect(result.error?.description.contains(" got a response that cannot be used: ") == true)
    }
  }

  @Test("A server that never accepts a byte ends the upload")
  func noProgress() async throws {
    try await upload(.tus) { request in
      request.method == "PATCH" ? .status(204, fields: ["Upload-Offset": "0"]) : nil
    } _: { result, _, server in
      #expect(result.error?.transfer?.problem == .unusableOffset && server.exchanges.count < 10)
    }
  }

  @Test("If the response to a complete upload is lost, the call succeeds only if its value needs no response")
  func lostResponse() async throws {
    for isVoid in [true, false] {
      let override = { @Sendable (request: RecordedRequest) -> Reply? in
        switch request.method {
        case "PATCH": .status(409)
        case "HEAD": .status(204, fields: ["Upload-Offset": "100000"])
        default: nil
        }
      }
      try await UploadServer.with(.tus, override: override) { _, server in
        try await UploadBench.with(server) { bench in
          try bench.write(100_000)
          if isVoid {
            let result = try await bench.api.upload(bench.film, by: .tus())
            #expect(result.status == 204 && result.url == "\(server.origin)/files/upload-0")
          } else {
            let film = Request<StoredFilm>.post("/files", content: .file(bench.path))
            let error = await failure { try await bench.api.upload(film, by: .tus()) }
            #expect(error?.transfer?.problem == .responseLost && error?.transfer?.keptBytes == 100_000)
          }
        }
      }
    }
  }

  @Test("A file that changes between two parts fails the upload immediately, and no further byte is sent")
  func changedBetweenParts() async throws {
    let fault = Fault(at: .requestContent(after: 1_000_000), .reset, on: .request(1))
    let path = Mutex("")
    try await UploadServer.with(.tus, faults: [fault]) { request in
      guard request.method == "HEAD" else { return nil }
      try? FileOnServer(length: 5_000_000, seed: 9).bytes.write(to: URL(filePath: path.withLock { $0 }))
      return nil
    } _: { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(5_000_000)
        path.withLock { $0 = bench.path }
        let error = await failure { try await bench.api.upload(bench.film, by: .tus(), options: bench.options) }
        #expect(error?.transfer?.problem == .contentChanged && error?.code == .encoding)
        #expect(server.exchanges.filter { $0.method == "HEAD" }.count == 1)
        #expect(uploads.offset(of: "/files/upload-0") < 5_000_000)
      }
    }
  }

  @Test("A file that changed after an interruption is uploaded from its start")
  func changed() async throws {
    let fault = Fault(at: .requestContent(after: 1_000_000), .reset, on: .request(1))
    try await UploadServer.with(.tus, faults: [fault]) { request in
      request.method == "HEAD" ? .status(503, fields: ["Retry-After": "100"]) : nil
    } _: { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(5_000_000)
        let first = await failure { try await bench.api.upload(bench.film, by: .tus(), options: bench.options) }
        #expect(first?.status == 503 && bench.records.count == 2)
        let bytes = try bench.write(5_000_000, seed: 3)
        let result = try await bench.api.upload(bench.film, by: .tus(), options: bench.options)
        #expect(result.resumedBytes == 0 && uploads.has(bytes, in: "/files/upload-3") && bench.records.isEmpty)
        // The old upload may be complete, so it is not removed.
        #expect(!server.exchanges.contains { $0.method == "DELETE" })
      }
    }
  }
}

/// The differences of an upload from a plain upload.
private struct Variation {
  var uploadProtocol: UploadProtocol?
  var faults: [Fault] = []
}

/// The result or the error of an upload.
private struct Outcome {
  var value: UploadResult<Content>?
  var error: CallError?
}
