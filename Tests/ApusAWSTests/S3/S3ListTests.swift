import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusAWS

@Suite("S3: lists of objects")
struct S3ListTests {
  private let stub = StubTransport()

  private var bucket: S3Bucket {
    let client = Client(environment: Environment(baseURL: "https://s3.example.com"), transport: stub)
    return S3(client, region: "r", credentials: AWSCredentials.example).bucket("films")
  }

  /// Replies with the pages of a list, by the number in the continuation token.
  private func serve(_ page: @escaping @Sendable (_ number: Int) -> (content: String, next: String?)) {
    stub.on(
      where: { _, _ in true },
      reply: { exchange in
        let token = exchange.target.split(separator: "&").first { $0.hasPrefix("continuation-token=") }
        let number = token.flatMap { Int($0.dropFirst("continuation-token=".count)) } ?? 0
        let (content, next) = page(number)
        let end = next.map { "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>" }
        return .text("<ListBucketResult>\(content)\(end ?? "")</ListBucketResult>")
      })
  }

  private static let object = "<Contents><Key>a</Key><Size>1</Size></Contents>"

  @Test("A list with ever new tokens but no objects or prefixes ends after 100 pages")
  func endless() async {
    serve { ("", $0 < 500 ? "\($0 + 1)" : nil) }
    let error = await failure { for try await _ in bucket.list() {} }
    #expect(error?.code == .decoding && error?.description.contains("100 pages without objects") == true)
    #expect(stub.exchanges.count == 100)
  }

  @Test(
    "A list continues over fewer empty pages, and over any number of pages with objects or prefixes",
    arguments: [object, "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"])
  func gaps(content: String) async throws {
    serve { ($0 % 100 == 99 ? content : "", $0 < 299 ? "\($0 + 1)" : nil) }
    var count = 0
    for try await page in bucket.list() { count += page.objects.count + page.prefixes.count }
    #expect(count == 3 && stub.exchanges.count == 300)
    serve { (content, $0 < 150 ? "\($0 + 1)" : nil) }
    for try await _ in bucket.list() {}
    #expect(stub.exchanges.count == 451)
  }

  @Test("The empty pages before a stored position are counted")
  func resumed() async throws {
    serve { ("", $0 < 500 ? "\($0 + 1)" : nil) }
    var position: PagePosition?
    for try await page in bucket.list().withPositions {
      position = page.next
      if stub.exchanges.count == 60 { break }
    }
    let stored = try JSONDecoder().decode(PagePosition?.self, from: JSONEncoder().encode(position))
    #expect(await failure { for try await _ in bucket.list().resuming(at: stored) {} }?.code == .decoding)
    #expect(stub.exchanges.count == 100)
  }

  @Test("A list that leads back to an earlier page ends soon, with and without empty pages", arguments: ["", object])
  func circular(content: String) async {
    serve { (($0 % 7 == 3) ? content : Self.object, "\($0 < 20 ? $0 + 1 : 5)") }
    let error = await failure { for try await _ in bucket.list() {} }
    #expect(error?.code == .decoding && error?.description.contains("leads back") == true)
    #expect(stub.exchanges.count < 100)
  }

  @Test("The total number of empty pages is limited")
  func total() throws {
    var position: S3ListPosition?
    var count = 0
    let failure = #expect(throws: S3ListPosition.Failure.self) {
      for number in 1...100_000 {
        position = try S3ListPosition("\(number)", after: position, isEmpty: number % 2 == 0)
        count = number
      }
    }
    #expect(failure == .endless(pages: 20_000) && count == 39_999)
  }

  @Test("A position is encoded as its token until a page is empty, and a position with invalid counts is rejected")
  func coded() throws {
    let plain = try S3ListPosition("a")
    #expect(try String(decoding: JSONEncoder().encode([plain]), as: UTF8.self) == #"["a"]"#)
    let counted = try S3ListPosition("c", after: S3ListPosition("b", after: plain, isEmpty: true), isEmpty: true)
    for position in [plain, counted] {
      #expect(try JSONDecoder().decode([S3ListPosition].self, from: JSONEncoder().encode([position])) == [position])
    }
    for counts in ["-1", "100"] {
      let text = #"[{"token":"a","emptyInRow":\#(counts),"emptyInAll":1}]"#
      #expect(throws: (any Error).self) { try JSONDecoder().decode([S3ListPosition].self, from: Data(text.utf8)) }
    }
  }
}
