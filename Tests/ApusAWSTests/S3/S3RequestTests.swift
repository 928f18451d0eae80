import ApusCore
import ApusMiddleware
import ApusTesting
import ApusTransfers
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusAWS

@Suite("S3: requests and responses")
struct S3RequestTests {
  private let stub = StubTransport()

  private func bucket(
    _ base: BaseURL = "https://s3.eu-central-1.amazonaws.com", _ name: String = "films", retries: Bool = false
  ) -> S3Bucket {
    let pipeline: Pipeline = [.retry: retries ? RetryMiddleware(RetryPolicy(baseDelay: .zero)) : nil]
    let client = Client(environment: Environment(baseURL: base), pipeline: pipeline, transport: stub)
    return S3(client, region: "eu-central-1", credentials: AWSCredentials.example).bucket(name)
  }

  private func error(_ code: String, _ rest: String = "", status: Int) -> StubReply {
    .bytes(
      Data("<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>m</Message>\(rest)</Error>".utf8),
      type: "application/xml", status: status)
  }

  private func field(_ name: String, of exchange: StubExchange) -> String? {
    HTTPField.Name(name).flatMap { exchange.fields[$0] }
  }

  @Test("Content is sent to its bucket's host with a checksum, and is not signed over https")
  func put() async throws {
    stub.onAny(reply: .status(200, fields: [.eTag: "\"t\""]))
    let stored = try await bucket().put("a/../b", .text("123456789"), options: S3PutOptions(metadata: ["Year": "1985"]))
    #expect(stored.entityTag == "\"t\"")
    let exchange = try #require(stub.exchanges.first)
    #expect(exchange.request.url == "https://films.s3.eu-central-1.amazonaws.com/a/../b")
    #expect(field("x-amz-checksum-crc64nvme", of: exchange) == "rosUhgp5mIg=")
    #expect(field("x-amz-content-sha256", of: exchange) == "UNSIGNED-PAYLOAD")
    #expect(field("x-amz-meta-year", of: exchange) == "1985")
    #expect(exchange.endpoint.template == "/{bucket}/{key}")
    #expect(exchange.fields[.authorization]?.contains("/eu-central-1/s3/aws4_request") == true)
  }

  @Test("Content that the transport has decoded is not compared with the object's checksum")
  func decoded() async throws {
    struct Decoding: Transport {
      func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
        let fields = [(HTTPField.Name("x-amz-checksum-crc64nvme"), "rosUhgp5mIg=")]
        var head = HTTPResponse(status: .ok)
        for (name, value) in fields { if let name { head.headerFields[name] = value } }
        var content = ResponseContent(Data("decoded".utf8))
        content.isDecoded = request.head.path == "/films/decoded"
        return ResponseMessage(head: head, content: content)
      }
    }
    let client = Client(environment: Environment(baseURL: "https://s3.example.com"), transport: Decoding())
    let bucket = S3(client, region: "r", credentials: AWSCredentials.example).bucket("films")
    #expect(try await bucket.get("decoded").data == Data("decoded".utf8))
    #expect(await failure { try await bucket.get("other") }?.code == .malformedResponse)
  }

  @Test("Over http the digest of content is signed; an empty request has the digest of no bytes")
  func signedContent() async throws {
    stub.onAny(reply: .status(200))
    let bucket = bucket("http://127.0.0.1:1")
    try await bucket.put("a", .text("123456789"), options: S3PutOptions(checksum: .crc32c))
    _ = try await bucket.head("a")
    #expect(stub.exchanges.map(\.target) == ["/films/a", "/films/a"])
    #expect(field("x-amz-checksum-crc32c", of: stub.exchanges[0]) == "4waSgw==")
    #expect(
      stub.exchanges.map { field("x-amz-content-sha256", of: $0) } == [
        "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      ])
  }

  @Test("A copy that fails in a response with status 200 is an error, and retried like a failure of the server")
  func lateFailure() async throws {
    let late = error("InternalError", status: 200)
    stub.onAny(reply: late)
    let error = await failure { try await bucket(retries: true).copy("a", to: "b") }
    #expect(error?.code == .rejected && error?.s3?.code == "InternalError" && error?.status == 500)
    #expect(stub.exchanges.count == 3)
    #expect(field("x-amz-copy-source", of: stub.exchanges[0]) == "/films/a")
  }

  @Test("All requests use the path of the server's URL, which their signatures cover", arguments: [true, false])
  func basePath(isPresigned: Bool) async throws {
    let base = "https://h.example/storage/v1/s3"
    let bucket = bucket("https://h.example/storage/v1/s3")
    if isPresigned {
      let url = try await bucket.presign("a b", seconds: 60)
      #expect(url.hasPrefix("\(base)/films/a%20b?X-Amz-Algorithm="))
      return
    }
    stub.on(
      where: { _, _ in true },
      reply: { exchange in
        exchange.target.contains("list-type")
          ? .text("<ListBucketResult/>") : .text("<CopyObjectResult/>")
      })
    try await bucket.put("a/../b", .text("c"))
    for try await _ in bucket.list(prefix: "a/") {}
    _ = try await bucket.copy("c d", to: "e")
    _ = try await bucket.get("a")
    #expect(
      stub.exchanges.map { $0.request.url.replacing(base, with: "") } == [
        "/films/a/../b", "/films/?list-type=2&encoding-type=url&max-keys=1000&prefix=a%2F", "/films/e", "/films/a",
      ])
    #expect(field("x-amz-copy-source", of: stub.exchanges[2]) == "/films/c%20d")
    // The signature of the last request covers its complete target.
    let signer = SignatureV4(region: "eu-central-1", service: "s3")
    let sent = try #require(stub.exchanges.last?.request)
    let time = try #require(HTTPField.Name("x-amz-date").flatMap { sent.head.headerFields[$0] })
    let format = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    let signed = try signer.sign(sent, with: .example, at: try format.parse(time))
    #expect(signed.message.head.headerFields[.authorization] == sent.head.headerFields[.authorization])
    #expect(signed.canonicalRequest.hasPrefix("GET\n/storage/v1/s3/films/a\n"))
  }

  /// The operations whose response does not contain an object.
  enum Operation: String, CaseIterable {
    case copy, deletion, list, put, create, remove, delete

    var needsDocument: Bool { [.copy, .deletion, .list].contains(self) }

    func run(_ bucket: S3Bucket) async throws {
      switch self {
      case .copy: try await bucket.copy("a", to: "b")
      case .deletion: try await bucket.delete(["a"])
      case .list: for try await _ in bucket.list() {}
      case .put: try await bucket.put("a", .text("b"))
      case .create: try await bucket.create()
      case .remove: try await bucket.remove()
      case .delete: try await bucket.delete("a")
      }
    }
  }

  @Test(
    "A response with a success status and an error, an intermediary's page or no content is a failure",
    arguments: Operation.allCases)
  func falseSuccess(operation: Operation) async throws {
    let page = "<!DOCTYPE html><html><body>Sign in</body></html>"
    let failures: [(StubReply, status: Int, code: String)] = [
      (error("AccessDenied", status: 200), 500, "AccessDenied"), (error("SlowDown", status: 200), 503, "SlowDown"),
      (.bytes(Data(page.utf8), type: "text/html"), 502, "Rejected"), (.text(page), 502, "Rejected"),
      (.bytes(Data("Sign in".utf8), type: "text/html"), 502, "Rejected"),
    ]
    for (reply, status, code) in failures {
      stub.onAny(reply: reply)
      let error = await failure { try await operation.run(bucket()) }
      #expect(error?.code == .rejected && error?.status == status && error?.s3?.code == code)
    }
    stub.onAny(reply: .status(200))
    let error = await failure { try await operation.run(bucket()) }
    #expect(operation.needsDocument ? error?.status == 502 : error == nil)
  }

  @Test("An object may contain anything, even the text of an error or of a page")
  func anyContent() async throws {
    let bucket = bucket()
    for text in ["<Error><Code>a</Code></Error>", "<!DOCTYPE html><html/>", ""] {
      stub.onAny(reply: .bytes(Data(text.utf8), type: "text/html"))
      #expect(try await bucket.get("a").data == Data(text.utf8))
      #expect(try await bucket.withContent(of: "a") { try await $0.collect() } == Data(text.utf8))
    }
  }

  @Test("A bucket name that would change the host is refused before a request is sent")
  func unusableHost() async throws {
    let client = Client(environment: Environment(baseURL: "https://s3.example.com"), transport: stub)
    let s3 = S3(client, region: "r", credentials: AWSCredentials.example, addressing: .virtualHost)
    let error = await failure { try await s3.bucket("evil.example/").put("a", .text("b")) }
    #expect(error?.code == .invalidRequest && error?.requestState == .notSent && stub.exchanges.isEmpty)
    let presigned = await failure { try await s3.bucket("evil.example/").presign("a", seconds: 60) }
    #expect(presigned?.code == .invalidRequest)
  }

  @Test("Request IDs, codes and messages of a server are limited to one line without control characters")
  func serverTexts() async throws {
    let name = try #require(HTTPField.Name("x-amz-request-id"))
    let long = String(repeating: "x", count: 500)
    stub.onAny(reply: .status(404, fields: [name: "7\u{9B}31m\u{202E}" + long]))
    let identifier = try #require(await failure { try await bucket().head("a") }?.s3?.requestID)
    #expect(identifier.hasPrefix("731mx") && identifier.unicodeScalars.count == 100)
    let result =
      "<DeleteResult><Error><Key>k</Key><Code>A\nB</Code><Message>b\u{202E}\n\(long)</Message></Error></DeleteResult>"
    stub.onAny(reply: .text(result))
    let reason = try #require(try await bucket().delete(["k"]).first?.reason)
    #expect(reason.code == "A B" && reason.message?.hasPrefix("b x") == true && reason.message?.count == 300)
  }

  @Test("Content that does not match the server's checksum is an error; a checksum of parts is ignored")
  func verified() async throws {
    let name = try #require(HTTPField.Name("x-amz-checksum-crc32c"))
    stub.on(.get, "/films/right", reply: .bytes(Data("123456789".utf8), type: "text/plain", fields: [name: "4waSgw=="]))
    stub.on(.get, "/films/wrong", reply: .bytes(Data("123456780".utf8), type: "text/plain", fields: [name: "4waSgw=="]))
    stub.on(
      .get, "/films/parts", reply: .bytes(Data("123456780".utf8), type: "text/plain", fields: [name: "4waSgw==-2"]))
    let bucket = bucket("https://s3.example.com")
    #expect(try await bucket.get("right").data.count == 9)
    #expect(await failure { try await bucket.get("wrong") }?.code == .malformedResponse)
    #expect(
      await failure { try await bucket.withContent(of: "wrong") { try await $0.collect() } }?.code == .malformedResponse
    )
    #expect(try await bucket.get("parts").data.count == 9)
    #expect(try await bucket.get("wrong", range: 0..<9).data.count == 9)
  }

  @Test(
    "A file that does not match the object's checksum is removed, and never gets its final name",
    arguments: [true, false])
  func downloaded(isRight: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-object-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let name = try #require(HTTPField.Name("x-amz-checksum-crc32c"))
    stub.on(.head, "/films/a", reply: .status(200, fields: [name: "4waSgw==", .eTag: "\"t\""]))
    stub.on(.get, "/films/a", reply: .text(isRight ? "123456789" : "123456780", fields: [.eTag: "\"t\""]))
    let error = await failure { try await bucket("https://s3.example.com").download("a", to: "\(folder)/a") }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    if isRight {
      #expect(error == nil && names == ["a"])
    } else {
      #expect(error?.code == .malformedResponse && error?.transfer?.problem == .digestMismatch && names == [])
    }
    #expect(stub.exchanges.map { $0.fields[.ifMatch] } == [nil, "\"t\""])
  }

  @Test("Up to 1,000 keys are deleted with each request, and a key that XML cannot contain is deleted separately")
  func batches() async throws {
    let result =
      "<DeleteResult><Error><Key>k7</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>"
    stub.on(.post, "/films/?delete=", reply: .text(result))
    stub.on(.delete, "/films/%01", reply: .status(204))
    let failures = try await bucket("https://s3.example.com").delete((0..<1001).map { "k\($0)" } + ["\u{1}"])
    #expect(failures.map(\.key) == ["k7", "k7"] && failures.first?.reason.code == "AccessDenied")
    #expect(stub.exchanges.map(\.method) == [.post, .delete, .post])
    #expect(field("Content-MD5", of: stub.exchanges[0])?.isEmpty == false)
    #expect(stub.exchanges[0].text.contains("<Key>k999</Key>") && !stub.exchanges[0].text.contains("k1000"))
  }

  @Test("A truncated page without a token is an error, not the end of the list")
  func missingToken() async throws {
    stub.onAny(reply: .text("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"))
    let error = await failure { for try await _ in bucket().list() {} }
    #expect(error?.code == .decoding)
  }

  @Test("Descriptions of the region, the bucket and errors contain no credentials and no message of the server")
  func redacted() async throws {
    stub.onAny(reply: error("NoSuchKey", status: 404))
    let bucket = bucket()
    let error = try #require(await failure { try await bucket.get("secret-key") })
    for text in [texts(of: bucket), texts(of: bucket.s3), texts(of: error), texts(of: try #require(error.s3))] {
      #expect(!text.contains(AWSCredentials.example.secretAccessKey) && !text.contains("secret-key"))
    }
    #expect(error.s3?.message == "m")
  }

  @Test("Without credentials requests are not signed")
  func anonymous() async throws {
    stub.onAny(reply: .text("film"))
    let client = Client(environment: Environment(baseURL: "https://s3.example.com"), transport: stub)
    _ = try await S3(client, region: "r", credentials: nil).bucket("films").get("a")
    #expect(stub.exchanges.first?.fields[.authorization] == nil)
  }
}
