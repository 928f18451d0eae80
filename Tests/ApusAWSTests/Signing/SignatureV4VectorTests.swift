import ApusAWS
import ApusCore
import Foundation
import HTTPTypes
import Testing

/// Signatures of the same requests, computed by independent implementations.
@Suite("Vectors of Signature Version 4")
struct SignatureV4VectorTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var method: HTTPRequest.Method
    var target: String
    var fields: [(String, String)] = []
    var content = ""
    var service = "service"
    var token: String?
    /// The lifetime of a presigned URL in seconds; `nil` if the signature is in a field.
    var seconds: Int?
    /// Whether the signature must cover the digest of the content.
    var sendsPayload: Bool?
    var signature: String

    var testDescription: String { name }
  }

  @Test("Signatures equal those of other implementations", arguments: vectors)
  func vector(_ vector: Vector) throws {
    var request = message(vector.method, vector.target)
    for (name, value) in vector.fields {
      request.head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    if !vector.content.isEmpty { request.content = .bytes(Data(vector.content.utf8)) }
    var credentials = AWSCredentials.example
    credentials.sessionToken = vector.token
    var signer = SignatureV4(region: "us-east-1", service: vector.service)
    signer.sendsPayload = vector.sendsPayload
    let signed =
      try vector.seconds.map {
        try signer.presign(request, with: credentials, at: .example, seconds: $0)
      } ?? signer.sign(request, with: credentials, at: .example)
    #expect(signed.signature == vector.signature, "\(signed.canonicalRequest)")
  }

  private static let token = "AQoDYXdzEPT//////////wEXAMPLE+/="

  private static let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", "13")]

  static let vectors = [
    Vector(
      name: "no path and no query", method: .get, target: "/",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Vector(
      name: "UTF-8 in the path", method: .get, target: "/%E1%88%B4/%C3%BC",
      signature: "3aef8e599fd939fa51d70dc9d2ae4059e052f298b56624f097e37b7c6deae7cc"),
    Vector(
      name: "an encoded slash in the path", method: .get, target: "/a%2Fb/c",
      signature: "006eff3d53d3fa15e6340e61e016213e7f99291f4bf407e953a1b0ec30bae5da"),
    Vector(
      name: "dot segments and empty segments", method: .get, target: "/a/./b/..//c/",
      signature: "03815191a982245f233767bed9d5022ca4cf6dc96e4c7598525bfdbc1932b50c"),
    Vector(
      name: "two dots beyond the root", method: .get, target: "/../../a",
      signature: "e7dfad111cdad6139e285ddec7592de69207ee936e9af6cffa906e281325f76a"),
    Vector(
      name: "a plus sign and a percent sign in the path", method: .get, target: "/a+b/100%25",
      signature: "01a6a176d1fea4e69b3ca686756edb4327733b932295801f0920748f99dc233d"),
    Vector(
      name: "repeated query names", method: .get, target: "/?a=2&a=1&b=3&a=10",
      signature: "c8b3f70657ba632bbec32ca6a4218bd907c9ea159aa6b1f4e980dff046adfa02"),
    Vector(
      name: "query names that differ in case", method: .get, target: "/?b=1&B=2&a=3",
      signature: "8884ab8a31747b5b512c8f6358fa42f4395d3dc16704eaf4de8de53be4e2238f"),
    Vector(
      name: "an empty query name", method: .get, target: "/?=1&a=2",
      signature: "7c1169e9ceeccdda1144cadb3a0e2f1df6b0c15b21329a039213854b274cae78"),
    Vector(
      name: "a query name that another begins with", method: .get, target: "/?Param-3=3&Param=2&%E1%88%B4=1",
      signature: "a24cad3d466d7ec885958254621b822db42860271aa7a3700f9c997788c85379"),
    Vector(
      name: "reserved characters in the query", method: .get, target: "/?q=a%26b%3Dc%2B%20%2F~",
      signature: "94aaebfbfa7b717d24d0d6c9bbc30dd646736fb1dbdb2329db5ce0bd1593d375"),
    Vector(
      name: "white space in a field value", method: .get, target: "/",
      fields: [("My-Header1", "  a   b  c "), ("My-Header2", "\"a   b\"")],
      signature: "51e627a1ff87ea51972b25f41fe944b80f28c67d0992c19410f1bf259eed36cf"),
    Vector(
      name: "repeated fields in their order", method: .get, target: "/",
      fields: [("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("Zz", "1")],
      signature: "30f896c067805f8db3de864b137863586084358153292c9583171ba638bb97d7"),
    Vector(
      name: "content", method: .post, target: "/", fields: [("Content-Type", "application/x-www-form-urlencoded")],
      content: "Param1=value1",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    Vector(
      name: "a session token", method: .post, target: "/", token: token,
      signature: "a3ee4747632422191e5c7da3bb138ed2d3bc7d98086c7bcdb8d537fa79664cd9"),
    Vector(
      name: "a key of S3 with dots, spaces and empty segments", method: .put, target: "/bucket/a//b/../c%20d%2Be%C3%BC",
      fields: [("Content-Type", "text/plain")], content: "text", service: "s3",
      signature: "9ea5d9cad9d192973a913822a558b122bfe5fea97c9f45caf647ee5cc7053928"),
    Vector(
      name: "a session token for S3", method: .get, target: "/bucket/key?list-type=2&prefix=a%2Fb", service: "s3",
      token: token,
      signature: "ddac3263f9845196aaddf2754a99c7247ec9b993b3e6d06617385b9a2465062f"),
    Vector(
      name: "a presigned URL", method: .get, target: "/?a=1", seconds: 3600,
      signature: "777afaaf32c6d445ce1e8fbb1c8db057f1faa3a42e4f0d2ffb496406a7ffcdb3"),
    Vector(
      name: "a presigned URL with a session token", method: .get, target: "/a%20b", token: token, seconds: 60,
      signature: "e89ea64e06831769744725bbbb1d6aedb9d78b1b33a993ea75e8d7744be7558e"),
    Vector(
      name: "content with its digest in a field", method: .post, target: "/", fields: form, content: "Param1=value1",
      sendsPayload: true, signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"),
    Vector(
      name: "a presigned URL with the digest of content", method: .post, target: "/", fields: form,
      content: "Param1=value1", seconds: 3600, sendsPayload: true,
      signature: "89a40deed0f26f9461242825a082d2222717248abc7ab41f552ad84a94ad46e9"),
    Vector(
      name: "a presigned URL of S3", method: .get, target: "/bucket/a//b%20c", service: "s3", seconds: 604800,
      signature: "3dd0da0ca792303d86505822c56562978995434ba5378e415c62b561bebd3d56"),
    Vector(
      name: "a presigned URL of S3 with a field", method: .put, target: "/bucket/k", fields: [("X-Amz-Meta-A", "1")],
      service: "s3",
      token: token, seconds: 300,
      signature: "2aad460567c1cbcd5489c6e84267d46ab4c956719fe9c93ffc451bdff10aae47"),
  ]
}
