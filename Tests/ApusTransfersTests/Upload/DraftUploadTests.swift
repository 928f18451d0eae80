import ApusCore
import ApusTestServer
import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The IETF draft: limits, digests and statuses")
struct DraftUploadTests {
  /// Uploads a file of 100,000 bytes. Returns the requests that sent content, and the error.
  private func upload(
    _ uploadProtocol: UploadProtocol = .ietf(createsFirst: true), limits: String? = nil, faults: [Fault] = [],
    override: @escaping @Sendable (RecordedRequest) -> Reply? = { _ in nil }
  ) async throws -> (parts: [RecordedExchange], error: CallError?) {
    try await UploadServer.with(.ietf, faults: faults, override: override) { uploads, server in
      uploads.state(limits: limits)
      return try await UploadBench.with(server) { bench in
        let bytes = try bench.write(100_000)
        let film = Request<Content>.post("/files", content: .file(bench.path))
        let error = await failure { try await bench.api.upload(film, by: uploadProtocol, options: bench.options) }
        if error == nil { #expect(uploads.has(bytes) && bench.records.isEmpty) }
        return (server.exchanges.filter { $0.contentLength > 0 }, error)
      }
    }
  }

  @Test("No part exceeds the maximum that the server states when it creates the upload")
  func maximumPart() async throws {
    let (parts, error) = try await upload(limits: "max-append-size=40000, min-append-size=10000")
    #expect(error == nil && parts.map(\.contentLength) == [40_000, 40_000, 20_000])
  }

  @Test("Limits that the server states after an interruption apply to the remaining bytes")
  func laterLimits() async throws {
    let fault = Fault(at: .requestContent(after: 25_000), .reset, on: .request(0))
    let (parts, error) = try await upload(.ietf(), limits: "max-append-size=30000", faults: [fault])
    #expect(error == nil && parts.dropFirst().dropLast().allSatisfy { $0.contentLength == 30_000 })
    #expect(parts.count >= 3)
  }

  @Test("A part rejected for its size is resent in smaller parts if the server accepts smaller parts")
  func tooLargePart() async throws {
    let reject = { @Sendable (request: RecordedRequest, limits: FieldLines) -> Reply? in
      guard let size = Int(request.fields["Content-Length"] ?? ""), size > 50_000 else { return nil }
      return .status(413, fields: limits)
    }
    let smaller = try await upload { reject($0, ["Upload-Limit": "max-append-size=50000"]) }
    #expect(smaller.error == nil && smaller.parts.suffix(2).map(\.contentLength) == [50_000, 50_000])
    let rejected = try await upload { reject($0, [:]) }
    #expect(rejected.error?.status == 413)
  }

  @Test(
    "Content of a size that the server does not accept fails with the stated limit",
    arguments: [
      ("max-size=99999", TransferError.Problem.contentTooLarge(limit: 99_999)),
      ("min-size=100001", .contentTooSmall(minimum: 100_001)),
    ])
  func sizes(limits: String, reason: TransferError.Problem) async throws {
    let creation = try await upload(limits: limits)
    #expect(creation.error?.transfer?.problem == reason && creation.error?.code == .refused && creation.parts.isEmpty)
    let fault = Fault(at: .requestContent(after: 25_000), .reset, on: .request(0))
    let later = try await upload(.ietf(), limits: limits, faults: [fault])
    #expect(later.error?.transfer?.problem == reason && later.parts.count == 1)
    let tooLarge = try await upload { request in
      request.method == "PATCH" ? .status(413, fields: ["Upload-Limit": limits]) : nil
    }
    #expect(tooLarge.error?.transfer?.problem == reason)
  }

  @Test("An upload expires at the age that the server states")
  func age() throws {
    let ticket = UploadTicket(location: "https://films.example/files/1")
    let name = try #require(HTTPField.Name("Upload-Limit"))
    func limited(_ text: String, preferring preferred: Int64? = nil) -> UploadTicket {
      UploadLimits([name: text]).applied(to: ticket, preferring: preferred)
    }
    let now = Int64(Date().timeIntervalSince1970)
    let expiration = try #require(limited("max-age=3600").expiration)
    #expect((now + 3600...now + 3660).contains(expiration))
    #expect(limited("max-age=-1, max-append-size=5, min-append-size=6") == ticket)
    #expect(limited("min-append-size=20", preferring: 10).maximumPart == 20)
    #expect(limited("max-append-size=5", preferring: 10).maximumPart == 5)
    #expect(limited("max-size=5", preferring: 10).maximumPart == 10)
  }

  @Test("On request, digests of the content are sent with the creation, and digests of the parts with each part")
  func digests() async throws {
    let bytes = [UInt8](FileOnServer(length: 100_000).bytes)
    @Sendable func digest(_ range: Range<Int>) -> String {
      "sha-256=:\(Data(SHA256.hash(data: bytes[range])).base64EncodedString()):"
    }
    let (parts, error) = try await upload(
      .ietf(createsFirst: true, digest: .sha256), limits: "max-append-size=60000",
      override: { request in
        if request.method == "POST" { #expect(request.fields["Repr-Digest"] == digest(0..<100_000)) }
        return nil
      })
    #expect(error == nil)
    #expect(parts.map { $0.request.fields["Content-Digest"] } == [digest(0..<60_000), digest(60_000..<100_000)])
    #expect(parts.allSatisfy { $0.request.fields["Repr-Digest"] == nil })
    let whole = try await upload(.ietf(digest: .sha256))
    #expect(whole.error == nil && whole.parts.count == 1)
    #expect(whole.parts.first?.request.fields["Content-Digest"] == digest(0..<100_000))
    #expect(whole.parts.first?.request.fields["Repr-Digest"] == digest(0..<100_000))
  }

  @Test("An existing upload continues after any 5xx status", arguments: [501, 507, 599])
  func serverErrors(_ status: Int) async throws {
    let (parts, error) = try await upload { $0.number == 1 ? .status(status) : nil }
    #expect(error == nil && parts.last?.number == 3 && parts.last?.contentLength == 100_000)
    let creation = try await upload { $0.number == 0 ? .status(status) : nil }
    #expect(creation.error?.status == status)
  }
}
