import ApusTestServer
import Foundation
import Testing

/// `apus presign` and `apus send --aws-sigv4`, run as processes.
@Suite("AWS signatures of the tool", .timeLimit(.minutes(3)))
struct PresignTests {
  private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  private let keys = ["--access-key", "AKIAIOSFODNN7EXAMPLE", "--secret-key", Self.secret]

  /// Returns settings whose home folder contains a profile, without the machine's variables.
  private func setting(_ folder: URL) throws -> ToolRun.Setting {
    let files = folder.appending(path: ".aws")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try Data("[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret\n".utf8)
      .write(to: files.appending(path: "credentials"))
    var setting = ToolRun.Setting()
    setting.environment = [
      "HOME": folder.path, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
      "AWS_PROFILE": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "",
    ]
    return setting
  }

  private func withHome(_ body: (ToolRun.Setting) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(try setting(folder))
  }

  @Test("The published example of a presigned URL has the published signature")
  func published() async throws {
    let run = try await ToolRun.of(
      ["presign", "--aws-sigv4", "us-east-1/s3", "--expires", "86400", "--at", "2013-05-24T00:00:00Z"] + keys
        + ["https://examplebucket.s3.amazonaws.com/test.txt"])
    #expect(run.status == 0, "\(run.error)")
    #expect(
      run.text == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-SignedHeaders=host&X-Amz-Expires=86400"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404\n")
  }

  @Test("A URL is signed for another method with the keys of a profile")
  func profile() async throws {
    try await withHome { setting in
      let run = try await ToolRun.of(
        ["presign", "--aws-sigv4", "r/s3", "--aws-profile", "work", "put", "https://h.example/k"], setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text.contains("X-Amz-Credential=AKIDWORK%2F"))
    }
  }

  @Test("Without credentials, the message lists the providers that were tried")
  func nowhere() async throws {
    try await withHome { setting in
      let run = try await ToolRun.of(["presign", "--aws-sigv4", "r/s3", "https://h.example/k"], setting)
      #expect(run.status == 3)
      #expect(run.error.contains("apus: There are no AWS credentials: environment variables: AWS_ACCESS_KEY_ID"))
      #expect(run.error.contains("profile: there is no profile default"))
    }
  }

  @Test(
    "An invalid command line is refused",
    arguments: [
      ["presign", "https://h.example/k"], ["presign", "--aws-sigv4", "s3", "https://h.example/k"],
      ["presign", "--aws-sigv4", "r/s3"], ["send", "--access-key", "a", "https://h.example/"],
      ["send", "--aws-sigv4", "r/s3", "--aws-profile", "p", "--access-key", "a", "https://h.example/"],
      ["send", "--aws-sigv4", "r/s3", "--access-key", "a", "--secret-key", "b", "--bearer", "t", "https://h.example/"],
    ])
  func refusals(arguments: [String]) async throws {
    #expect(try await ToolRun.of(arguments).status == 64)
  }

  @Test("A request is sent with a signature, but its curl command line contains none")
  func send() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let words = ["send", "--aws-sigv4", "eu-central-1/execute-api"] + keys
      let url = "http://127.0.0.1:\(server.port)/films"
      let run = try await ToolRun.of(words + [url])
      #expect(run.text == "hi", "\(run.error)")
      let authorization = try #require(server.exchanges.first?.field("Authorization"))
      #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"))
      #expect(authorization.contains("/eu-central-1/execute-api/aws4_request, SignedHeaders="))
      let curl = try await ToolRun.of(words + ["--curl", url])
      #expect(!curl.text.contains(Self.secret) && !curl.text.contains("Signature=") && server.exchanges.count == 1)
    }
  }

  @Test("A request is signed with the keys of a profile, and is not sent if the profile is missing")
  func sendWithProfile() async throws {
    try await withHome { setting in
      try await TestServer.with { _ in
        .text("hi")
      } body: { server in
        let url = "http://127.0.0.1:\(server.port)/"
        let words = ["send", "--aws-sigv4", "r/s", "--aws-profile"]
        let run = try await ToolRun.of(words + ["work", url], setting)
        #expect(run.text == "hi", "\(run.error)")
        let missing = try await ToolRun.of(words + ["other", url], setting)
        #expect(missing.status == 3 && missing.error.contains("there is no profile other"))
        #expect(server.exchanges.count == 1)
      }
    }
  }
}
