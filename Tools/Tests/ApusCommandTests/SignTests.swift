import Foundation
import Testing

/// `apus sign`, run as a process.
@Suite("apus sign", .timeLimit(.minutes(3)))
struct SignTests {
  private struct Printed: Decodable {
    var canonicalRequest: String
    var stringToSign: String
    var signature: String
    var authorization: String?
    var url: String?

    enum CodingKeys: String, CodingKey {
      case canonicalRequest = "canonical_request"
      case stringToSign = "string_to_sign"
      case signature, authorization, url
    }
  }

  private let common = ["sign", "--region", "us-east-1", "--service", "service", "--at", "2015-08-30T12:36:00Z"]
  private let keys = ["--access-key", "AKIDEXAMPLE", "--secret-key", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"]
  private let request = "GET / HTTP/1.1\nHost:example.amazonaws.com\n"

  private func printed(_ arguments: [String], _ request: String) async throws -> Printed {
    let run = try await ToolRun.of(arguments, ToolRun.Setting(input: Data(request.utf8)))
    #expect(run.status == 0, "\(run.error)")
    #expect(run.lines.count == 1)
    return try JSONDecoder().decode(Printed.self, from: run.output)
  }

  @Test("The published example without content has the published signature")
  func vanilla() async throws {
    let result = try await printed(common + keys, request)
    #expect(result.signature == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    #expect(
      result.authorization
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        + "SignedHeaders=host;x-amz-date, Signature=\(result.signature)")
    #expect(result.stringToSign.hasPrefix("AWS4-HMAC-SHA256\n20150830T123600Z\n"))
    #expect(result.canonicalRequest.hasPrefix("GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"))
    #expect(result.url == nil)
  }

  @Test("A field value on several lines is signed with a space in place of each line break")
  func multilineValue() async throws {
    let field = "My-Header1:value1\n  value2\n     value3\n"
    let result = try await printed(common + keys, request + field)
    #expect(result.canonicalRequest.contains("\nmy-header1:value1 value2 value3\n"))
    #expect(result.signature == "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd")
  }

  @Test("A presigned URL is printed completely, with percent-encoding where required")
  func presigned() async throws {
    let result = try await printed(
      common + keys + ["--presign", "3600"], "GET /example space/ሴ HTTP/1.1\nHost:example.amazonaws.com\n")
    let url = try #require(result.url)
    #expect(url.hasPrefix("https://example.amazonaws.com/example%20space/%E1%88%B4?X-Amz-Algorithm=AWS4-HMAC-SHA256&"))
    #expect(url.hasSuffix("&X-Amz-Expires=3600&X-Amz-Signature=\(result.signature)"))
    #expect(result.authorization == nil)
  }

  @Test("The published presigned URL with the digest of its content has the published signature")
  func presignedContent() async throws {
    let form =
      "POST / HTTP/1.1\nContent-Type:application/x-www-form-urlencoded\nHost:example.amazonaws.com\n"
      + "Content-Length:13\n\nParam1=value1"
    let result = try await printed(common + keys + ["--presign", "3600", "--sign-content"], form)
    #expect(result.signature == "89a40deed0f26f9461242825a082d2222717248abc7ab41f552ad84a94ad46e9")
    #expect(result.url?.contains("&X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost&") == true)
    let field = try await printed(common + keys + ["--sign-content"], form)
    #expect(field.signature == "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b")
  }

  @Test("Options keep dot segments, add the digest of the content, and omit a token from the signature")
  func flags() async throws {
    let dots = "GET /a/../b HTTP/1.1\nHost:h\n"
    #expect(try await printed(common + keys, dots).canonicalRequest.hasPrefix("GET\n/b\n"))
    let kept = try await printed(common + keys + ["--no-normalize-path", "--sign-content"], dots)
    #expect(kept.canonicalRequest.hasPrefix("GET\n/a/../b\n"))
    #expect(kept.canonicalRequest.contains("\nx-amz-content-sha256:e3b0c442"))
    let token = ["--session-token", "token"]
    #expect(try await printed(common + keys + token, request).canonicalRequest.contains("x-amz-security-token:token"))
    let omitted = try await printed(common + keys + token + ["--omit-session-token"], request)
    #expect(!omitted.canonicalRequest.contains("token"))
  }

  @Test("The keys are also read from the environment and from files")
  func secrets() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "key")
    try Data("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n".utf8).write(to: file)
    var setting = ToolRun.Setting(input: Data(request.utf8))
    setting.environment["AWS_ACCESS_KEY_ID"] = "AKIDEXAMPLE"
    let run = try await ToolRun.of(common + ["--secret-key", "@\(file.path)"], setting)
    #expect(run.text.contains("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"))
  }

  @Test("A missing key, an invalid time and an invalid request are refused, each with its status")
  func refusals() async throws {
    var setting = ToolRun.Setting(input: Data(request.utf8))
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] { setting.environment[name] = "" }
    let missing = try await ToolRun.of(common, setting)
    #expect(missing.status == 64)
    #expect(missing.error.contains("--access-key or AWS_ACCESS_KEY_ID is required."))
    let time = try await ToolRun.of(common + keys + ["--at", "yesterday"], setting)
    #expect(time.status == 64)
    let lifetime = try await ToolRun.of(common + keys + ["--presign", "0"], setting)
    #expect(lifetime.status == 3)
    let malformed = try await ToolRun.of(common + keys, ToolRun.Setting(input: Data("GET".utf8)))
    #expect(malformed.status == 26)
    #expect(malformed.error.contains("line 1"))
  }
}
