import Foundation
import Testing

@testable import ApusAWS

@Suite("S3: documents")
struct S3DocumentTests {
  @Test("A page contains keys, sizes, prefixes and the position of the next page")
  func page() throws {
    let page = try S3Page(
      Data(
        """
        <?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>films</Name><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
        <NextContinuationToken>1+2/=</NextContinuationToken>
        <Contents><Key>a+b%2Bc%20%C3%BC</Key><LastModified>2026-03-01T12:00:00.500Z</LastModified><ETag>"x"</ETag>
        <Size>5368709120000</Size><StorageClass>STANDARD</StorageClass></Contents>
        <CommonPrefixes><Prefix>d%2F</Prefix></CommonPrefixes></ListBucketResult>
        """.utf8))
    let object = try #require(page.objects.first)
    #expect(object.key == "a b+c ü" && object.size == 5_368_709_120_000 && object.entityTag == "\"x\"")
    #expect(object.lastModified == Date(timeIntervalSince1970: 1_772_366_400.5))
    #expect(page.prefixes == ["d/"] && page.next?.token == "1+2/=")
  }

  @Test("Keys are decoded only if the server has encoded them")
  func plainKeys() throws {
    let page = try S3Page(
      Data("<ListBucketResult><Contents><Key>a+b%2B</Key><Size>1</Size></Contents></ListBucketResult>".utf8))
    #expect(page.objects.map(\.key) == ["a+b%2B"])
  }

  @Test(
    "A document that is not a valid list is an error",
    arguments: [
      "<List/>", "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
      "<ListBucketResult><Contents><Key>a</Key><Size>-</Size></Contents></ListBucketResult>", "",
    ])
  func malformed(text: String) {
    #expect(throws: XMLFailure.self) { try S3Page(Data(text.utf8)) }
  }

  @Test("An error contains its code, message and request ID, on one line and with limited length")
  func error() throws {
    let error = try #require(
      S3Error(
        Data("<Error><Code>A</Code><Message>b\n\u{202E}c</Message><RequestId>7</RequestId></Error>".utf8)))
    #expect((error.code, error.message, error.requestID) == ("A", "b c", "7"))
    #expect(error.description == "A (request 7)")
    let long = try #require(
      S3Error(Data("<Error><Code>A</Code><Message>\(String(repeating: "x", count: 999))</Message></Error>".utf8)))
    #expect(long.message?.count == 300)
    #expect(S3Error(Data("<html/>".utf8)) == nil && S3Error(Data("<Error/>".utf8)) == nil)
    #expect(S3Error(Data("<Error><Code>\u{202E}</Code></Error>".utf8)) == nil)
  }

  @Test("Code, message and request ID of an error are sanitized, whichever initializer creates the error")
  func cleaned() {
    let text = "a\u{1B}[31m\u{202E}b\nc\u{85}" + String(repeating: "x", count: 500)
    let error = S3Error(code: text, message: text, requestID: text)
    for (cleaned, length) in [(error.code, 100), (error.message, 300), (error.requestID, 100)] as [(String?, Int)] {
      #expect(cleaned?.hasPrefix("a[31mb c ") == true && cleaned?.unicodeScalars.count == length)
    }
    #expect(!S3DeletionFailure(key: "a", reason: error).description.unicodeScalars.contains { $0.value < 0x20 })
  }

  @Test(
    "The root element's name is found at the beginning of a document",
    arguments: [
      ("<a/>", "a"), ("  \r\n<?xml version='1.0'?>\n<!-- b -->\n<s:CopyObjectResult xmlns:s='x'>", "CopyObjectResult"),
      ("\u{FEFF}<Error><Code>", "Error"), ("<!DOCTYPE html><html>", "html"), ("<!doctype HTML PUBLIC", "HTML"),
      (String(repeating: " ", count: 100_000) + "<Result>", "Result"), ("", nil), ("text", nil), ("<", nil),
      ("<!-- <a>", nil), ("<?xml <a>", nil), ("{\"a\": \"<b>\"}", nil),
    ] as [(String, String?)])
  func root(content: String, name: String?) {
    #expect(XMLRoot.name(of: Data(content.utf8)) == name)
  }

  @Test(
    "A part has 8 MiB, or the size that 10,000 parts require, within the limits",
    arguments: [
      (1, nil, 8 << 20), (80_000 << 20, nil, 8 << 20), (80_000 << 20 + 1, nil, 8 << 20 + 1),
      (100 << 20, 1, 5 << 20), (100 << 20, 64 << 20, 64 << 20), (100 << 20, 1 << 40, 5 << 30),
      (5 << 30 * 10_000, nil, 5 << 30),
    ] as [(Int64, Int64?, Int64)])
  func partSize(length: Int64, requested: Int64?, size: Int64) throws {
    let parts = try #require(S3PartSize(for: length, requested: requested))
    #expect(parts.bytes == size)
    let last = try #require(parts.range(of: parts.number(of: length - 1..<length), length: length))
    #expect(last.upperBound == length && parts.number(of: last) <= 10_000)
  }

  @Test("An object has at most 10,000 parts of 5 GiB")
  func tooLarge() {
    #expect(S3PartSize(for: 5 << 30 * 10_000 + 1) == nil)
    #expect(S3PartSize(for: 100)?.range(of: 2, length: 100) == nil)
    #expect(S3PartSize(for: 100)?.range(of: 0, length: 100) == nil)
  }
}
