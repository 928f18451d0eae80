import ApusCore
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ApusAWS

/// Tests of published examples, and of the rules for lengths and pieces.
@Suite("Chunked payload")
struct ChunkedPayloadTests {
  private static let credentials = AWSCredentials(
    accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  /// 2013-05-24 00:00:00 UTC.
  private static let date = Date(timeIntervalSince1970: 1_369_353_600)
  private let signer = SignatureV4(region: "us-east-1", service: "s3")

  private func request(_ content: MessageContent, hasLength: Bool) -> RequestMessage {
    var fields: HTTPFields = [:]
    if let name = HTTPField.Name("x-amz-storage-class") { fields[name] = "REDUCED_REDUNDANCY" }
    if hasLength { fields[.contentLength] = "0" }
    var request = message(.put, "/examplebucket/chunkObject.txt", fields: fields, content: content)
    request.head.authority = "s3.amazonaws.com"
    return request
  }

  private func bytes(_ content: MessageContent) async throws -> Data {
    guard case .stream(let stream) = content else { return Data() }
    var all = Data()
    let pieces = try stream.makePieces()
    while let piece = try await pieces() { all += piece }
    return all
  }

  private func signed(
    _ content: MessageContent, _ payload: SignatureV4.Payload, hasLength: Bool = false
  ) throws -> SignatureV4.Signed {
    try signer.sign(
      request(content, hasLength: hasLength), with: Self.credentials, at: Self.date, payload: payload)
  }

  @Test("The published example in chunks is signed and encoded as published")
  func published() async throws {
    let content = Data(repeating: UInt8(ascii: "a"), count: 66_560)
    let result = try signed(.bytes(content), .signedChunks(), hasLength: true)
    #expect(result.signature == "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
    #expect(result.message.head.headerFields[.contentLength] == "66824")
    #expect(result.message.content.length == 66_824)
    let chunks: [(Int, String)] = [
      (65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
      (1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
      (0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
    ]
    let expected = chunks.reduce(into: Data()) { all, chunk in
      all += Data("\(String(chunk.0, radix: 16));chunk-signature=\(chunk.1)\r\n".utf8)
      all += Data(repeating: UInt8(ascii: "a"), count: chunk.0) + Data("\r\n".utf8)
    }
    #expect(try await bytes(result.message.content) == expected)
  }

  @Test("The published example with a trailing checksum is signed and encoded as published")
  func publishedTrailer() async throws {
    let content = Data(repeating: UInt8(ascii: "a"), count: 66_560)
    let result = try signed(.bytes(content), .signedChunks(trailer: .crc32c))
    #expect(result.signature == "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e")
    let all = try await bytes(result.message.content)
    #expect(Int64(all.count) == result.message.content.length)
    let text = String(decoding: all, as: UTF8.self)
    for signature in [
      "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
      "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
    ] {
      #expect(text.contains(";chunk-signature=\(signature)\r\n"))
    }
    #expect(
      text.hasSuffix(
        "\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
          + "x-amz-checksum-crc32c:sOO8/Q==\r\n"
          + "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"))
  }

  @Test("Chunks without signatures end with a checksum")
  func unsigned() async throws {
    let result = try signed(.bytes(Data("hello".utf8)), .unsignedChunks(trailer: .crc32))
    let text = String(decoding: try await bytes(result.message.content), as: UTF8.self)
    #expect(text == "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n")
    #expect(Int64(text.utf8.count) == result.message.content.length)
    #expect(result.canonicalRequest.hasSuffix("\nSTREAMING-UNSIGNED-PAYLOAD-TRAILER"))
    #expect(result.canonicalRequest.contains("\nx-amz-decoded-content-length:5\n"))
    #expect(result.canonicalRequest.contains("\nx-amz-trailer:x-amz-checksum-crc32\n"))
  }

  @Test("The announced length equals the number of sent bytes, for any length, payload and piece size")
  func lengths() async throws {
    let payloads: [SignatureV4.Payload] =
      [.signedChunks()]
      + ChecksumAlgorithm.allCases.flatMap { [.signedChunks(trailer: $0), .unsignedChunks(trailer: $0)] }
    for count in [0, 1, 15, 16, 255, 65_535, 65_536, 65_537, 131_072, 200_000] {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      for payload in payloads {
        let whole = try signed(.bytes(data), payload).message.content
        let expected = try await bytes(whole)
        #expect(Int64(expected.count) == whole.length)
        let stream = ContentStream(length: Int64(count), isReplayable: true) {
          let left = Mutex(data[...])
          return {
            left.withLock { left in
              defer { left = left.dropFirst(50_001) }
              return left.isEmpty ? nil : left.prefix(50_001)
            }
          }
        }
        #expect(try await bytes(try signed(.stream(stream), payload).message.content) == expected)
      }
    }
  }

  @Test("A file is read while it is sent, and the content can be resent from its start")
  func file() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    try Data(repeating: 7, count: 100_000).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let content = try signed(.file(try ContentFile(path: url.path)), .signedChunks(trailer: .sha256)).message.content
    let first = try await bytes(content)
    #expect(try await bytes(content) == first)
    #expect(content.isReplayable && content.length == Int64(first.count))
  }

  @Test("`aws-chunked` precedes other content codings")
  func codings() throws {
    var request = request(.bytes(Data("x".utf8)), hasLength: false)
    request.head.headerFields[.contentEncoding] = "gzip"
    let result = try signer.sign(request, with: Self.credentials, at: Self.date, payload: .signedChunks())
    #expect(result.message.head.headerFields[.contentEncoding] == "aws-chunked,gzip")
  }

  @Test("Content of unknown length, and unsigned chunks over http, are refused")
  func refusals() throws {
    let stream = ContentStream(isReplayable: false) { { nil } }
    #expect(throws: SigningError.unknownLength) { try signed(.stream(stream), .signedChunks()) }
    let endless = ContentStream(length: .max, isReplayable: false) { { nil } }
    #expect(throws: SigningError.unknownLength) { try signed(.stream(endless), .signedChunks()) }
    var plain = request(.bytes(Data()), hasLength: false)
    plain.head.scheme = "http"
    #expect(throws: SigningError.unsignedWithoutTLS) {
      try signer.sign(plain, with: Self.credentials, at: Self.date, payload: .unsignedChunks(trailer: .crc32))
    }
  }

  @Test("The source is read only as far as a chunk needs")
  func bounded() async throws {
    let count = Mutex(0)
    let stream = ContentStream(length: 10 << 20, isReplayable: true) {
      {
        count.withLock { $0 += 1 }
        return Data(count: 16 << 10)
      }
    }
    guard case .stream(let chunks) = try signed(.stream(stream), .signedChunks()).message.content else { return }
    let pieces = try chunks.makePieces()
    #expect(try await pieces()?.count == 65_536 + 90)
    #expect(count.withLock { $0 } == 4)
  }
}
