import ApusAWS
import ApusCore
import Foundation
import HTTPTypes
import Testing

/// Tests of the signatures of published examples, and of the rules for the parts of a request.
@Suite("Signature Version 4")
struct SignatureV4Tests {
  @Test("The published example of a list of users has the published signature")
  func listUsers() throws {
    let signer = SignatureV4(region: "us-east-1", service: "iam")
    var request = message(
      .get, "/?Action=ListUsers&Version=2010-05-08",
      fields: [.contentType: "application/x-www-form-urlencoded; charset=utf-8"])
    request.head.authority = "iam.amazonaws.com"
    let signed = try signer.sign(request, with: .example, at: .example)
    #expect(signed.signature == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")
    #expect(
      signed.message.head.headerFields[.authorization]
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        + "SignedHeaders=content-type;host;x-amz-date, "
        + "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")
    #expect(
      signed.stringToSign == """
        AWS4-HMAC-SHA256
        20150830T123600Z
        20150830/us-east-1/iam/aws4_request
        f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59
        """)
  }

  @Test("A signature replaces an earlier signature, so that a message can be signed again for each attempt")
  func again() throws {
    let signer = SignatureV4(region: "us-east-1", service: "service")
    let first = try signer.sign(message(.get, "/"), with: .example, at: .example)
    let later = try signer.sign(first.message, with: .example, at: .example.addingTimeInterval(60))
    let fresh = try signer.sign(message(.get, "/"), with: .example, at: .example.addingTimeInterval(60))
    #expect(later.signature == fresh.signature)
    #expect(later.message.head.headerFields.count == fresh.message.head.headerFields.count)
  }

  @Test("The signing key depends on the day, the secret, the region and the service")
  func keys() throws {
    let signer = SignatureV4(region: "us-east-1", service: "service")
    var other = AWSCredentials.example
    other.secretAccessKey = "another"
    let signatures = try [
      signer.sign(message(.get, "/"), with: .example, at: .example),
      signer.sign(message(.get, "/"), with: other, at: .example),
      signer.sign(message(.get, "/"), with: .example, at: .example.addingTimeInterval(86_400)),
      SignatureV4(region: "us-east-2", service: "service").sign(message(.get, "/"), with: .example, at: .example),
      signer.sign(message(.get, "/"), with: .example, at: .example),
    ].map(\.signature)
    #expect(Set(signatures).count == 4)
    #expect(signatures.first == signatures.last)
  }

  @Test("A presigned URL has the parameters of the signature, and the session token where the service requires it")
  func presigned() throws {
    var signer = SignatureV4(region: "us-east-1", service: "service")
    var credentials = AWSCredentials.example
    credentials.sessionToken = "a/b="
    let inside = try signer.presign(message(.get, "/x?a=1"), with: credentials, at: .example, seconds: 60)
    #expect(
      inside.message.target
        == "/x?a=1&X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fservice%2Faws4_request"
        + "&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Expires=60&X-Amz-Security-Token=a%2Fb%3D"
        + "&X-Amz-Signature=\(inside.signature)")
    signer.signsSessionToken = false
    let outside = try signer.presign(message(.get, "/x"), with: credentials, at: .example, seconds: 60)
    #expect(
      outside.message.target.hasSuffix("&X-Amz-Signature=\(outside.signature)&X-Amz-Security-Token=a%2Fb%3D"))
    #expect(outside.signature != inside.signature)
  }

  @Test(
    "A presigned URL that covers the digest of content requires the digest field at S3 only", arguments: ["s3", "x"])
  func presignedContent(service: String) throws {
    var signer = SignatureV4(region: "us-east-1", service: service)
    signer.sendsPayload = true
    let one = try signer.presign(
      message(.put, "/", content: .bytes(Data("1".utf8))), with: .example, at: .example, seconds: 60)
    let two = try signer.presign(
      message(.put, "/", content: .bytes(Data("2".utf8))), with: .example, at: .example, seconds: 60)
    #expect(one.signature != two.signature)
    let name = try #require(HTTPField.Name("X-Amz-Content-SHA256"))
    #expect((one.message.head.headerFields[name] != nil) == (service == "s3"))
    #expect(one.message.target.contains("x-amz-content-sha256") == (service == "s3"))
  }

  @Test("A session token that is not signed is still sent")
  func unsignedToken() throws {
    var signer = SignatureV4(region: "us-east-1", service: "service")
    signer.signsSessionToken = false
    var credentials = AWSCredentials.example
    credentials.sessionToken = "token"
    let signed = try signer.sign(message(.get, "/"), with: credentials, at: .example)
    let plain = try signer.sign(message(.get, "/"), with: .example, at: .example)
    #expect(signed.signature == plain.signature)
    #expect(signed.message.head.headerFields[try #require(HTTPField.Name("X-Amz-Security-Token"))] == "token")
  }

  @Test("Fields that transports and proxies change are not signed")
  func unsignedFields() throws {
    let signer = SignatureV4(region: "us-east-1", service: "service")
    let fields: HTTPFields = [.userAgent: "apus", .expect: "100-continue", .accept: "*/*"]
    let signed = try signer.sign(message(.get, "/", fields: fields), with: .example, at: .example)
    #expect(signed.canonicalRequest.contains("\naccept;host;x-amz-date\n"))
  }

  @Test("A request that cannot be signed is refused with the reason")
  func refusals() throws {
    let signer = SignatureV4(region: "us-east-1", service: "s3")
    var plain = message(.put, "/")
    plain.head.scheme = "http"
    #expect(throws: SigningError.unsignedWithoutTLS) {
      try signer.sign(plain, with: .example, at: .example, payload: .unsigned)
    }
    var nowhere = message(.get, "/")
    nowhere.head.authority = nil
    #expect(throws: SigningError.missingHost) { try signer.sign(nowhere, with: .example, at: .example) }
    for seconds in [0, -1, 604_801] {
      #expect(throws: SigningError.invalidLifetime(seconds: seconds)) {
        try signer.presign(message(.get, "/"), with: .example, at: .example, seconds: seconds)
      }
    }
    let stream = message(.put, "/", content: .stream(ContentStream(isReplayable: false) { { nil } }))
    #expect(throws: SigningError.contentNotInMemory) { try signer.sign(stream, with: .example, at: .example) }
    var broken = AWSCredentials.example
    broken.sessionToken = "a\r\nX-Evil: 1"
    #expect(throws: SigningError.invalidCredentials) {
      try signer.sign(message(.get, "/"), with: broken, at: .example)
    }
    let digest = String(repeating: "0", count: 64)
    #expect(
      try signer.sign(stream, with: .example, at: .example, payload: .digest(digest)).canonicalRequest
        .hasSuffix("\n" + digest))
  }

  @Test("Times are written in UTC, even before 1970 and at the end of a leap year")
  func times() throws {
    let expected = [
      (0.0, "19700101T000000Z"), (-1, "19691231T235959Z"), (951_782_399, "20000228T235959Z"),
      (951_868_799, "20000229T235959Z"), (1_735_689_599.9, "20241231T235959Z"), (4_107_542_400, "21000301T000000Z"),
      (.infinity, "99991231T235959Z"), (-.infinity, "00000101T000000Z"),
    ]
    let signer = SignatureV4(region: "us-east-1", service: "service")
    for (seconds, text) in expected {
      let signed = try signer.sign(message(.get, "/"), with: .example, at: Date(timeIntervalSince1970: seconds))
      #expect(signed.stringToSign.split(separator: "\n")[1] == text)
    }
  }

  @Test("Printed credentials and signed requests contain no secrets")
  func secrets() throws {
    var credentials = AWSCredentials.example
    credentials.sessionToken = "session-sentinel"
    let signer = SignatureV4(region: "us-east-1", service: "service")
    for signed in [
      try signer.sign(message(.get, "/"), with: credentials, at: .example),
      try signer.presign(message(.get, "/"), with: credentials, at: .example, seconds: 60),
    ] {
      var dumped = ""
      dump(signed, to: &dumped)
      dump(credentials, to: &dumped)
      for secret in ["session-sentinel", credentials.secretAccessKey, signed.signature] {
        #expect(!"\(signed)\(credentials)\(dumped)".contains(secret))
      }
    }
  }
}

extension AWSCredentials {
  static let example = AWSCredentials(
    accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
}

extension Date {
  /// 2015-08-30 12:36:00 UTC.
  static let example = Date(timeIntervalSince1970: 1_440_938_160)
}

func message(
  _ method: HTTPRequest.Method, _ target: String, fields: HTTPFields = [:],
  content: MessageContent = .empty
) -> RequestMessage {
  RequestMessage(
    head: HTTPRequest(
      method: method, scheme: "https", authority: "example.amazonaws.com", path: target, headerFields: fields),
    content: content)
}
