#if os(Linux)
import Apus
import ApusTesting
import Foundation
import Testing

@testable import ApusAWS

@Suite("S3 servers: rejections", .needs(.seaweedfs), .needs(.swift), .needs(.moto))
struct S3RefusalTests {
  @Test("A wrong secret and an unknown access key are rejected with the server's code", arguments: S3Server.allCases)
  func wrongKey(server: S3Server) async throws {
    let wrong = AWSCredentials(accessKeyID: "test:tester", secretAccessKey: "another")
    try await server.withBucket(wrong) { bucket in
      let error = await failure { try await bucket.put("a", .text("b")) }
      #expect(error?.status == 403 && error?.s3?.code == "SignatureDoesNotMatch")
      #expect(await failure { try await bucket.head("a") }?.s3?.code == "AccessDenied")
    }
    let unknown = AWSCredentials(accessKeyID: "test:nobody", secretAccessKey: "testing")
    try await server.withBucket(unknown) { bucket in
      let code = await failure { try await bucket.get("a") }?.s3?.code
      #expect(["InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied"].contains(code))
    }
  }

  @Test("With a clock wrong by an hour, http requests are rejected without a correction", arguments: S3Server.strict)
  func skewedClock(server: S3Server) async throws {
    let late: @Sendable () -> Date = { Date().addingTimeInterval(-3600) }
    try await server.withBucket(now: late) { bucket in
      let error = await failure { try await bucket.put("a", .text("b")) }
      #expect(error?.status == 403 && error?.s3?.code == "RequestTimeTooSkewed")
    }
  }

  @Test("If the clock is wrong by an hour, requests are rejected, and over https the server's time corrects the clock")
  func correctedClock() async throws {
    let server = S3Server.secureSeaweedFS
    let late: @Sendable () -> Date = { Date().addingTimeInterval(-3600) }
    let timeless: S3Server.Wrap = { TimelessTransport(inner: $0) }
    try await server.withBucket(over: timeless, now: late) { bucket in
      let error = await failure { try await bucket.put("a", .text("b")) }
      #expect(error?.status == 403 && error?.s3?.code == "RequestTimeTooSkewed")
    }
    try await server.withBucket(now: late) { bucket in
      try await bucket.put("a", .text("b"))
      #expect(try await bucket.get("a").data == Data("b".utf8))
    }
  }

  @Test("A request that is changed after it was signed is rejected", arguments: S3Server.strict)
  func tampered(server: S3Server) async throws {
    let changes: [@Sendable (inout RequestMessage) -> Void] = [
      { $0.target += "2" },
      { $0.content = .bytes(Data("another".utf8)) },
      { $0.head.headerFields[.contentType] = "text/html" },
      { $0.head.method = .delete },
    ]
    for change in changes {
      let meddling: S3Server.Wrap = { MeddlingTransport($0, meddle: change) }
      try await server.withBucket(over: meddling) { bucket in
        let error = await failure { try await bucket.put("a", .text("content")) }
        #expect([400, 403].contains(error?.status), "\(String(describing: error))")
        #expect(error?.s3 != nil)
      }
    }
  }

  @Test(
    "Content that does not match its checksum is not stored", arguments: S3Server.strict, ChecksumAlgorithm.allCases)
  func wrongChecksum(server: S3Server, checksum: ChecksumAlgorithm) async throws {
    try await server.withBucket { bucket in
      try await bucket.put("right", .text("content"), options: S3PutOptions(checksum: checksum))
      let field = RawField(checksum.fieldName, Data(count: checksum.length).base64EncodedString())
      let error = await failure {
        try await bucket.put("wrong", .text("content"), options: S3PutOptions(checksum: checksum, fields: [field]))
      }
      #expect(error?.status == 400, "\(String(describing: error?.s3))")
      #expect(try await bucket.get("right").data == Data("content".utf8))
      #expect(await failure { try await bucket.head("wrong") }?.status == 404)
    }
  }
}
#endif
