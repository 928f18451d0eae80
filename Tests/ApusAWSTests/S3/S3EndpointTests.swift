import ApusCore
import Foundation
import HTTPTypes
import Testing

@testable import ApusAWS

@Suite("S3: addresses of buckets and objects")
struct S3EndpointTests {
  /// A location of an object, and its expected URL.
  struct Case: Sendable, CustomTestStringConvertible {
    var base = "https://s3.eu-central-1.amazonaws.com"
    var addressing = S3Addressing.automatic
    var bucket = "films"
    var key: String?
    var query: [S3Route.Parameter] = []
    var region = "eu-central-1"
    let url: String

    var testDescription: String { url }
  }

  private static let cases = [
    Case(key: "ran.mp4", url: "https://films.s3.eu-central-1.amazonaws.com/ran.mp4"),
    Case(addressing: .path, key: "ran.mp4", url: "https://s3.eu-central-1.amazonaws.com/films/ran.mp4"),
    Case(url: "https://films.s3.eu-central-1.amazonaws.com/"),
    Case(bucket: "", url: "https://s3.eu-central-1.amazonaws.com/"),
    // No certificate covers a name with dots. A host name has no capital letters, and no hyphen at its ends.
    Case(bucket: "-films", key: "a", url: "https://s3.eu-central-1.amazonaws.com/-films/a"),
    Case(base: "http://s3.amazonaws.com", bucket: "a..b", url: "http://s3.eu-central-1.amazonaws.com/a..b/"),
    Case(bucket: "my.films", key: "a", url: "https://s3.eu-central-1.amazonaws.com/my.films/a"),
    Case(bucket: "Films", key: "a", url: "https://s3.eu-central-1.amazonaws.com/Films/a"),
    Case(bucket: "a_b/c", key: "a", url: "https://s3.eu-central-1.amazonaws.com/a_b%2Fc/a"),
    // Servers other than AWS.
    Case(base: "http://127.0.0.1:8333", key: "a", url: "http://127.0.0.1:8333/films/a"),
    // A server's URL with a path.
    Case(base: "http://127.0.0.1:8333/store/", key: "a", url: "http://127.0.0.1:8333/store/films/a"),
    Case(base: "https://h.example/storage/v1/s3", url: "https://h.example/storage/v1/s3/films/"),
    Case(base: "https://h.example/storage/v1/s3", bucket: "", url: "https://h.example/storage/v1/s3/"),
    Case(
      base: "https://h.example/a%20b", key: "c d", query: [.init("list-type", "2")],
      url: "https://h.example/a%20b/films/c%20d?list-type=2"),
    Case(
      base: "https://h.example/s3", addressing: .virtualHost, key: "../a", url: "https://films.h.example/s3/../a"),
    Case(
      base: "https://h.example/s3", addressing: .virtualHost, bucket: "my.films",
      url: "https://my.films.h.example/s3/"),
    Case(
      base: "https://s3.example.com", addressing: .virtualHost, key: "a", url: "https://films.s3.example.com/a"),
    Case(base: "https://s3.example.com", key: "a", region: "us-west-2", url: "https://s3.example.com/films/a"),
    // Other regions.
    Case(key: "a", region: "us-west-2", url: "https://films.s3.us-west-2.amazonaws.com/a"),
    Case(
      base: "https://s3.amazonaws.com", key: "a", region: "us-east-1", url: "https://films.s3.amazonaws.com/a"),
    Case(
      base: "https://s3.amazonaws.com", key: "a", region: "us-west-2", url: "https://films.s3.us-west-2.amazonaws.com/a"
    ),
    Case(
      base: "https://s3.dualstack.us-east-1.amazonaws.com", key: "a", region: "us-west-2",
      url: "https://films.s3.dualstack.us-west-2.amazonaws.com/a"),
    Case(
      base: "https://s3-eu-west-1.amazonaws.com", key: "a", region: "us-west-2",
      url: "https://films.s3-us-west-2.amazonaws.com/a"),
    Case(
      base: "https://s3.cn-north-1.amazonaws.com.cn", key: "a", region: "cn-northwest-1",
      url: "https://films.s3.cn-northwest-1.amazonaws.com.cn/a"),
    // Keys are sent unchanged.
    Case(addressing: .path, key: "a b+c&d=e", url: "https://s3.eu-central-1.amazonaws.com/films/a%20b%2Bc%26d%3De"),
    Case(addressing: .path, key: "100%25", url: "https://s3.eu-central-1.amazonaws.com/films/100%2525"),
    Case(addressing: .path, key: "/a//b/", url: "https://s3.eu-central-1.amazonaws.com/films//a//b/"),
    Case(addressing: .path, key: "a/../b/.", url: "https://s3.eu-central-1.amazonaws.com/films/a/../b/."),
    Case(addressing: .path, key: "ü", url: "https://s3.eu-central-1.amazonaws.com/films/%C3%BC"),
    Case(addressing: .path, key: "a?b#c", url: "https://s3.eu-central-1.amazonaws.com/films/a%3Fb%23c"),
    Case(addressing: .path, key: "-/-", url: "https://s3.eu-central-1.amazonaws.com/films/-/-"),
    // Parameters of the query.
    Case(
      addressing: .path, key: "a", query: [.init("uploads"), .init("uploadId", "x+/=&")],
      url: "https://s3.eu-central-1.amazonaws.com/films/a?uploads=&uploadId=x%2B%2F%3D%26"),
  ]

  @Test("Locations of objects result in the URLs that servers expect", arguments: cases)
  func address(place: Case) throws {
    var route = S3Route(place.bucket, place.key, place.query)
    route.checksum = nil
    let parts = place.base.split(separator: "://")
    let mark = parts[1].firstIndex(of: "/") ?? parts[1].endIndex
    var path = String(parts[1][mark...])
    while path.hasSuffix("/") { path.removeLast() }
    var head = HTTPRequest(
      method: .get, scheme: String(parts[0]), authority: String(parts[1][..<mark]), path: path + route.placeholder)
    try S3Endpoint(addressing: place.addressing).write(route, region: place.region, to: &head)
    #expect("\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")" == place.url)
  }

  @Test("The environment's query parameters are appended to those of the operation")
  func commonParameters() throws {
    var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/-?tenant=7&x=%20")
    try S3Endpoint(addressing: .path).write(S3Route("films", nil, [.init("list-type", "2")]), region: "r", to: &head)
    #expect(head.path == "/films/?list-type=2&tenant=7&x=%20")
  }

  @Test(
    "Only strings with the characters of region names become part of a host",
    arguments: ["evil.com/", "a.b", "", "-a", "A", "a b", "a:1"])
  func regions(name: String) {
    #expect(!RegionName.isValid(name))
    #expect(RegionName.isValid("us-gov-west-1"))
  }

  private func failure(_ base: String, _ addressing: S3Addressing, _ bucket: String, _ region: String)
    -> TransportError?
  {
    var head = HTTPRequest(method: .get, scheme: "https", authority: base, path: "/-/-")
    let error = #expect(throws: TransportError.self) {
      try S3Endpoint(addressing: addressing).write(S3Route(bucket, "a"), region: region, to: &head)
    }
    #expect(head.authority == base && head.path == "/-/-")
    return error
  }

  @Test(
    "A bucket name that would change the host is refused",
    arguments: [
      "evil.example/", "evil.example?", "evil.example#", "a@b", "a:1", "a b", "-a", "a-", ".a", "a.", "a..b", "Films",
      "a_b", "ü", "a\r\nb", "a%2F", String(repeating: "a", count: 64),
    ])
  func unusableBucket(name: String) {
    let error = failure("s3.example.com", .virtualHost, name, "r")
    #expect(error?.code == .invalidRequest && error?.requestState == .notSent)
  }

  @Test(
    "A region name that would change the host of AWS is refused",
    arguments: ["evil.example/", "a.b", "", "-a", "A", "a b", "a:1", "a@b"], ["s3.eu-west-1", "s3", "s3-eu-west-1"])
  func unusableRegion(name: String, host: String) {
    for addressing in [S3Addressing.automatic, .path, .virtualHost] {
      let error = failure("\(host).amazonaws.com", addressing, "films", name)
      #expect(error?.code == .invalidRequest && error?.requestState == .notSent)
    }
  }

  @Test("The region of a rejection is read from a field or from the content")
  func namedRegion() throws {
    let field = try #require(HTTPField.Name("x-amz-bucket-region"))
    let content = Data("<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>".utf8)
    #expect(S3Regions.region(in: HTTPResponse(status: 301, headerFields: [field: "us-west-2"]), nil) == "us-west-2")
    #expect(S3Regions.region(in: HTTPResponse(status: 400), content) == "eu-west-1")
    #expect(S3Regions.region(in: HTTPResponse(status: 301, headerFields: [field: "evil.com/"]), nil) == nil)
    #expect(S3Regions.region(in: HTTPResponse(status: 403, headerFields: [field: "us-west-2"]), content) == nil)
  }
}
