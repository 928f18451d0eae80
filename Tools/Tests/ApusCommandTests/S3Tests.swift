import ApusTestServer
import Foundation
import Synchronization
import Testing

/// A server with objects in memory.
private final class Objects: Sendable {
  private let stored = Mutex<[String: Data]>([:])

  func reply(to request: RecordedRequest) -> Reply {
    let path = request.target.split(separator: "?").first.map(String.init) ?? ""
    switch request.method {
    case "PUT":
      stored.withLock { $0[path] = Data(request.text.utf8) }
      return .status(200, fields: ["ETag": "\"tag\""])
    case "GET" where path == "/films/":
      return .text(
        """
        <ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%0Ab</Key><Size>3</Size>\
        <LastModified>2026-03-01T12:00:00.000Z</LastModified></Contents><CommonPrefixes><Prefix>c/</Prefix>\
        </CommonPrefixes></ListBucketResult>
        """)
    case "GET", "HEAD":
      guard let content = stored.withLock({ $0[path] }) else { return .status(404) }
      return .text(String(decoding: content, as: UTF8.self), fields: ["ETag": "\"tag\""])
    default: return .status(405)
    }
  }
}

/// The commands with S3 locations, run as processes, with a server that stores objects in memory.
@Suite("apus upload, download and ls with S3", .timeLimit(.minutes(3)))
struct S3Tests {
  private let folder: TestFolder
  private let objects = Objects()

  init() throws {
    folder = try TestFolder()
  }

  private func run(_ arguments: [String], _ server: TestServer, path: String = "") async throws -> ToolRun {
    var setting = folder.setting()
    setting.environment["AWS_ACCESS_KEY_ID"] = "AKIDEXAMPLE"
    setting.environment["AWS_SECRET_ACCESS_KEY"] = "sentinel-secret"
    setting.environment["APUS_STATE_HOME"] = folder.path("state")
    let run = try await ToolRun.of(arguments + ["--endpoint-url", server.origin + path], setting)
    #expect(!run.error.contains("sentinel-secret"))
    return run
  }

  @Test("A file is uploaded with signed requests, and downloaded again")
  func files() async throws {
    try folder.write("film".utf8, to: "ran.txt")
    try await TestServer.with {
      objects.reply(to: $0)
    } body: { server in
      let upload = try await run(["upload", folder.path("ran.txt"), "s3://films/ä b/"], server)
      #expect(upload.status == 0 && upload.text == "", "\(upload.error)")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "PUT" && exchange.target == "/films/%C3%A4%20b/ran.txt")
      #expect(exchange.field("Authorization")?.contains("AKIDEXAMPLE/") == true)
      #expect(exchange.field("x-amz-checksum-crc64nvme") != nil)
      let download = try await run(["download", "s3://films/ä b/ran.txt", "-o", folder.path("copy.txt")], server)
      #expect(download.status == 0, "\(download.error)")
      #expect(try folder.text("copy.txt") == "film")
    }
  }

  @Test(
    "All requests use the path of the server's URL", arguments: ["/storage/v1/s3", "/storage/v1/s3/", "/a%20b"])
  func paths(path: String) async throws {
    try folder.write("film".utf8, to: "ran.txt")
    let base = path.hasSuffix("/") ? String(path.dropLast()) : path
    try await TestServer.with {
      $0.target.contains("list-type") ? .text("<ListBucketResult/>") : objects.reply(to: $0)
    } body: { server in
      let upload = try await run(["upload", folder.path("ran.txt"), "s3://films/a/"], server, path: path)
      #expect(upload.status == 0, "\(upload.error)")
      let list = try await run(["ls", "s3://films/"], server, path: path)
      #expect(list.status == 0, "\(list.error)")
      let download = try await run(
        ["download", "s3://films/a/ran.txt", "-o", folder.path("copy.txt")], server, path: path)
      #expect(download.status == 0, "\(download.error)")
      #expect(try folder.text("copy.txt") == "film")
      let targets = server.exchanges.map { $0.target.split(separator: "?").first.map(String.init) ?? "" }
      #expect(Set(targets) == ["\(base)/films/a/ran.txt", "\(base)/films/"])
    }
  }

  @Test("Credentials of a service on this machine are requested without a proxy")
  func directCredentials() async throws {
    try await TestServer.with { request in
      request.target.contains("/films/") ? .text("<ListBucketResult></ListBucketResult>") : .status(500)
    } body: { proxy in
      try await TestServer.with { _ in
        .json(
          #"{"AccessKeyId":"AKIDLOCAL","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#)
      } body: { service in
        var setting = folder.setting()
        setting.environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = service.origin + "/credentials"
        let run = try await ToolRun.of(
          ["ls", "s3://films", "--endpoint-url", "http://s3.invalid", "--proxy", proxy.origin], setting)
        #expect(run.status == 0, "\(run.error)")
        #expect(service.exchanges.map(\.target) == ["/credentials"])
        #expect(proxy.exchanges.map(\.path) == ["http://s3.invalid/films/"])
        #expect(proxy.exchanges.first?.field("Authorization")?.contains("AKIDLOCAL/") == true)
      }
    }
  }

  @Test("Objects are listed with time and size, prefixes with hyphens, and control characters are escaped")
  func list() async throws {
    try await TestServer.with {
      objects.reply(to: $0)
    } body: { server in
      let run = try await run(["ls", "s3://films/", "--region", "eu-west-1"], server)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.lines.first == "- - c/" && run.lines.last?.hasPrefix("2026-03-01T12:00:00Z 3 a") == true)
      #expect(run.lines.count == 2)
      #expect(server.exchanges.first?.field("Authorization")?.contains("/eu-west-1/s3/") == true)
    }
  }

  @Test("A missing object, missing keys and an invalid location are refused, each with its status")
  func refusals() async throws {
    try await TestServer.with {
      objects.reply(to: $0)
    } body: { server in
      #expect(try await run(["download", "s3://films/missing"], server).status == 22)
      #expect(try await run(["ls", "films"], server).status == 64)
      let anonymous = try await ToolRun.of(["ls", "s3://films", "--endpoint-url", server.origin, "--access-key", "a"])
      #expect(anonymous.status == 64 && anonymous.error.contains("AWS_SECRET_ACCESS_KEY"))
    }
  }
}
