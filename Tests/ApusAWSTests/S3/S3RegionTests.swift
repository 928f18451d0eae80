import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

/// Where a server states the region of a bucket.
enum RegionNaming: CaseIterable {
  case field, content, both

  var fields: HTTPFields {
    guard self != .content, let name = HTTPField.Name("x-amz-bucket-region") else { return [:] }
    return [name: "us-west-2"]
  }

  var content: Data {
    let region = self == .field ? "" : "<Region>us-west-2</Region>"
    return Data("<Error><Code>PermanentRedirect</Code><Message>m</Message>\(region)</Error>".utf8)
  }
}

/// AWS servers with a bucket in `us-west-2`. Servers of other regions reject requests for it.
private struct Regions {
  let stub = StubTransport()

  init() {}

  /// - Parameters:
  ///   - status: the status of the rejections in other regions.
  ///   - reply: the reply of the bucket's region.
  init(rejecting status: Int, _ naming: RegionNaming = .both, _ reply: StubReply = .text("film")) {
    stub.on(
      where: { _, _ in true },
      reply: { exchange in
        var fields = naming.fields
        fields[.location] = "https://elsewhere.example/films"
        // A response to HEAD has no content.
        if exchange.method == .head { return .status(status, fields: fields) }
        return .bytes(naming.content, type: "application/xml", status: status, fields: fields)
      })
    stub.on(where: { request, _ in request.head.authority == Self.host("us-west-2") }, reply: { _ in reply })
  }

  static func host(_ region: String) -> String { "films.s3.\(region).amazonaws.com" }

  func bucket(_ base: BaseURL = "https://s3.eu-central-1.amazonaws.com") -> S3Bucket {
    let client = Client(environment: Environment(baseURL: base), pipeline: [:], transport: stub)
    return S3(client, region: "eu-central-1", credentials: AWSCredentials.example).bucket("films")
  }

  /// The host of each exchange, and the region in its signature.
  var places: [String] {
    stub.exchanges.map { exchange in
      let scope = exchange.fields[.authorization]?.split(separator: "/").dropFirst(2).first
      return "\(exchange.request.head.authority ?? "") \(scope ?? "")"
    }
  }

  /// The hosts and regions of a request that is resent to the bucket's region.
  static let moved = ["\(host("eu-central-1")) eu-central-1", "\(host("us-west-2")) us-west-2"]

  var signatures: [String] {
    stub.exchanges.map { $0.fields[.authorization]?.components(separatedBy: "Signature=").last ?? "" }
  }
}

@Suite("S3: buckets in other regions")
struct S3RegionTests {
  @Test(
    "A request is signed again for the region that the server states, and later requests are sent there immediately",
    arguments: [301, 307, 400], RegionNaming.allCases)
  func get(status: Int, naming: RegionNaming) async throws {
    let regions = Regions(rejecting: status, naming)
    let bucket = regions.bucket()
    #expect(try await bucket.get("a").data == Data("film".utf8))
    #expect(regions.places == Regions.moved)
    #expect(Set(regions.signatures).count == 2 && regions.signatures.allSatisfy { $0.utf8.count == 64 })
    _ = try await bucket.get("b")
    #expect(regions.places == Regions.moved + Regions.moved.suffix(1))
  }

  @Test("A response to HEAD states the region in a field", arguments: [301, 307, 400])
  func head(status: Int) async throws {
    let regions = Regions(rejecting: status, .field, .status(200))
    _ = try await regions.bucket().head("a")
    #expect(try await regions.bucket().exists())
    #expect(regions.places == Regions.moved + Regions.moved)
  }

  @Test("Content is resent completely, with its checksum", arguments: [301, 307, 400], RegionNaming.allCases)
  func put(status: Int, naming: RegionNaming) async throws {
    let regions = Regions(rejecting: status, naming, .status(200))
    let bytes = Data("123456789".utf8)
    let opened = Counter()
    let stream = ContentStream(length: 9, isReplayable: true) {
      opened.add()
      let rest = Mutex<[Data]>([Data(bytes.prefix(4)), Data(bytes.dropFirst(4))])
      return { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }
    try await regions.bucket().put("a", .stream(stream))
    #expect(regions.places == Regions.moved)
    #expect(regions.stub.exchanges.map(\.text) == ["123456789", "123456789"])
    let name = try #require(HTTPField.Name("x-amz-checksum-crc64nvme"))
    #expect(regions.stub.exchanges.map { $0.fields[name] } == ["rosUhgp5mIg=", "rosUhgp5mIg="])
    // The content is opened once for the checksum, and once for each server.
    #expect(opened.value == 3)
  }

  @Test(
    "Content that can be read only once is not resent: the call fails with the server's reason; the next call succeeds",
    arguments: [301, 307, 400], RegionNaming.allCases)
  func onlyOnce(status: Int, naming: RegionNaming) async throws {
    let regions = Regions(rejecting: status, naming, .status(200))
    let bucket = regions.bucket()
    func content() -> RequestContent {
      let pieces = Mutex<[Data]>([Data("film".utf8)])
      return .stream(
        ContentStream(length: 4, isReplayable: false) { { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } } })
    }
    let options = S3PutOptions(checksum: nil)
    let error = await failure { try await bucket.put("a", content(), options: options) }
    #expect(error?.code == .rejected && error?.status == status && error?.s3?.code == "PermanentRedirect")
    #expect(regions.places == [Regions.moved[0]])
    #expect(
      error?.trace.events.contains {
        $0.kind
          == .note("the bucket is in another region; the request is not sent again, status", Int64(status))
      } == true)
    try await bucket.put("a", content(), options: options)
    #expect(regions.places == Regions.moved && regions.stub.exchanges.last?.text == "film")
  }

  @Test("A copy, a list and a streamed object are resent to the region of their bucket", arguments: [301, 307, 400])
  func operations(status: Int) async throws {
    let copies = Regions(rejecting: status, .both, .text("<CopyObjectResult><ETag>t</ETag></CopyObjectResult>"))
    _ = try await copies.bucket().copy("a", to: "b")
    let lists = Regions(
      rejecting: status, .both, .text("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"))
    for try await page in lists.bucket().list() { #expect(page.objects.isEmpty) }
    let streams = Regions(rejecting: status)
    #expect(try await streams.bucket().withContent(of: "a") { try await $0.collect() } == Data("film".utf8))
    for regions in [copies, lists, streams] { #expect(regions.places == Regions.moved) }
  }

  @Test("Each bucket has a separate region")
  func buckets() async throws {
    let regions = Regions(rejecting: 307)
    let other = "books.s3.eu-central-1.amazonaws.com"
    regions.stub.on(where: { request, _ in request.head.authority == other }, reply: { _ in .text("book") })
    let films = regions.bucket()
    _ = try await films.get("a")
    #expect(try await films.s3.bucket("books").get("a").data == Data("book".utf8))
    #expect(regions.places == Regions.moved + ["\(other) eu-central-1"])
  }

  @Test("A request to a server other than AWS is resent to the same host, with the stated region in the signature")
  func sameHost() async throws {
    let regions = Regions()
    regions.stub.on(.get, "/films/a", replies: [.bytes(RegionNaming.content.content, status: 400), .text("film")])
    _ = try await regions.bucket("https://s3.example.com").get("a")
    #expect(regions.places == ["s3.example.com eu-central-1", "s3.example.com us-west-2"])
  }

  @Test("A redirect without a region, or with the request's own region, is a rejection", arguments: [301, 307, 400])
  func unnamed(status: Int) async throws {
    let name = try #require(HTTPField.Name("x-amz-bucket-region"))
    let reason = Data("<Error><Code>TemporaryRedirect</Code></Error>".utf8)
    for fields in [[:], [name: "eu-central-1"], [name: "evil.example/"]] as [HTTPFields] {
      let regions = Regions()
      var fields = fields
      fields[.location] = "https://elsewhere.example/films/a"
      regions.stub.onAny(reply: .bytes(reason, type: "application/xml", status: status, fields: fields))
      let error = await failure { try await regions.bucket().put("a", .text("b")) }
      #expect(error?.status == status && error?.s3?.code == "TemporaryRedirect")
      #expect(regions.places == [Regions.moved[0]])
    }
  }

  @Test("A request is not resent forever if servers keep stating other regions")
  func endless() async throws {
    let regions = Regions()
    regions.stub.on(
      .put, "/films/a",
      replies: ["us-west-1", "us-west-2", "us-west-3", "us-west-4"].map {
        .bytes(Data("<Error><Code>x</Code><Region>\($0)</Region></Error>".utf8), status: 400)
      })
    #expect(await failure { try await regions.bucket("https://s3.example.com").put("a", .text("b")) }?.status == 400)
    #expect(regions.stub.exchanges.count == 3)
  }
}
