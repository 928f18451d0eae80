import HTTPTypes
import TestSupport
import Testing

@testable import ApusNIO

/// The examples of RFC 7541, Appendix C.
@Suite("Examples of RFC 7541")
struct RFC7541Tests {
  /// A field block, its fields, and the size of the dynamic table after the block.
  struct Example: Sendable {
    let block: String
    let lines: [String]
    let size: Int

    init(_ block: String, _ lines: [String], size: Int) { (self.block, self.lines, self.size) = (block, lines, size) }
  }

  @Test(
    "Integers are encoded and decoded as in Appendix C.1",
    arguments: [(10, UInt8(5), "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a")])
  func integers(number: Int, prefix: UInt8, block: String) throws {
    let written = withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { memory in
      var writer = BlockWriter(memory)
      writer.write(number, prefix: prefix, pattern: 0)
      return Array(memory[..<writer.count])
    }
    #expect(written == bytes(block))
    let (read, rest) = try withExactCopy(of: written) { written in
      var cursor = BlockCursor(written, scratch: UnsafeMutableRawBufferPointer(start: nil, count: 0))
      return (try cursor.integer(prefix: prefix), cursor.peek)
    }
    #expect(read == number && rest == nil)
  }

  @Test(
    "Literal and indexed fields are decoded as in Appendix C.2",
    arguments: [
      Example(
        "400a637573746f6d2d6b65790d637573746f6d2d686561646572", ["custom-key: custom-header"], size: 55),
      Example("040c2f73616d706c652f70617468", [":path: /sample/path"], size: 0),
      Example("100870617373776f726406736563726574", ["password: secret"], size: 0),
      Example("82", [":method: GET"], size: 0),
    ])
  func representations(example: Example) throws {
    try check([example], FieldDecoder())
  }

  static let requests = [
    [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"],
    [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com", "cache-control: no-cache"],
    [
      ":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com",
      "custom-key: custom-value",
    ],
  ]
  static let codedRequests = [
    "828684418cf1e3c2e5f23a6ba0ab90f4ff", "828684be5886a8eb10649cbf",
    "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
  ]

  @Test("Requests without Huffman coding are decoded as in Appendix C.3")
  func plainRequests() throws {
    let blocks = [
      "828684410f7777772e6578616d706c652e636f6d", "828684be58086e6f2d6361636865",
      "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
    ]
    try check(zip(zip(blocks, Self.requests), [57, 110, 164]).map { Example($0.0, $0.1, size: $1) }, FieldDecoder())
  }

  @Test("Requests with Huffman coding are decoded as in Appendix C.4")
  func requests() throws {
    try check(
      zip(zip(Self.codedRequests, Self.requests), [57, 110, 164]).map { Example($0.0, $0.1, size: $1) },
      FieldDecoder())
  }

  @Test("The encoder writes the field blocks of Appendix C.4")
  func encodedRequests() throws {
    var encoder = FieldEncoder()
    let customKey = try #require(HTTPField.Name("custom-key"))
    let heads = [
      request(scheme: "http", authority: "www.example.com"),
      request(scheme: "http", authority: "www.example.com", fields: [.cacheControl: "no-cache"]),
      request(authority: "www.example.com", path: "/index.html", fields: [customKey: "custom-value"]),
    ]
    for (head, block) in zip(heads, Self.codedRequests) { #expect(try encoder.block(head) == bytes(block)) }
    #expect(encoder.tableCount == 3)
  }

  static let responses = [
    [
      ":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
      "location: https://www.example.com",
    ],
    [
      ":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
      "location: https://www.example.com",
    ],
    [
      ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT",
      "location: https://www.example.com", "content-encoding: gzip",
      "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ],
  ]

  @Test("Responses without Huffman coding are decoded and evict entries as in Appendix C.5")
  func plainResponses() throws {
    let blocks = [
      """
      4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777\
      772e6578616d706c652e636f6d
      """, "4803333037c1c0bf",
      """
      88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f\
      5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31
      """,
    ]
    try check(
      zip(zip(blocks, Self.responses), [222, 222, 215]).map { Example($0.0, $0.1, size: $1) },
      FieldDecoder(maximumTableSize: 256))
  }

  @Test("Responses with Huffman coding are decoded and evict entries as in Appendix C.6")
  func responses() throws {
    let blocks = [
      "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
      "4883640effc1c0bf",
      """
      88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672\
      c1ab270fb5291f9587316065c003ed4ee5b1063d5007
      """,
    ]
    try check(
      zip(zip(blocks, Self.responses), [222, 222, 215]).map { Example($0.0, $0.1, size: $1) },
      FieldDecoder(maximumTableSize: 256))
  }

  private func check(_ examples: [Example], _ decoder: FieldDecoder) throws {
    var decoder = decoder
    for example in examples {
      #expect(try decoder.lines(bytes(example.block)) == example.lines)
      #expect(decoder.tableSize == example.size)
    }
  }
}
