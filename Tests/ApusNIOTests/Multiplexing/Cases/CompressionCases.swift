import ApusCore
import HTTPTypes

@testable import ApusNIO

/// Invalid, unusual and huge field blocks (RFC 7541, RFC 9113 §4.3).
enum CompressionCases {
  static let all = faults + unusual + sizes

  private static let end = Step.data(1, "hello", ends: true)

  private static func fault(_ name: String, _ section: String, _ block: [UInt8], _ fault: CompressionFault)
    -> HostileCase
  {
    HostileCase(
      "\(name) is a connection error", "7541/\(section)", [.block(1, block)], .violation(.compression(fault, 1)))
  }

  private static func read(_ name: String, _ section: String, _ block: [UInt8]) -> HostileCase {
    HostileCase("\(name) is read", "7541/\(section)", [.block(1, block), end], .ok)
  }

  private static let faults: [HostileCase] = [
    fault("The index 0", "6.1", [0x80], .unknownIndex(0)),
    fault("An index beyond both tables", "2.3.3", [0xBE], .unknownIndex(62)),
    fault("A name index beyond both tables", "2.3.3", [0x7E] + string("x"), .unknownIndex(62)),
    fault(
      "An index beyond the entries of the dynamic table", "2.3.3", literal("a", "b", pattern: 0x40) + [0xBF],
      .unknownIndex(63)),
    fault("An index above 2^31 - 1", "5.1", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .integerTooLarge),
    fault(
      "An index with many continuation bytes", "5.1", [0xFF] + [UInt8](repeating: 0x80, count: 20), .integerTooLarge),
    fault("A string longer than the field block", "5.2", [0, 0x7F, 0x80, 0x10, 0x61], .truncated),
    fault("A field block that ends inside an integer", "5.1", [0xFF, 0x80], .truncated),
    fault("A field block that ends before a value", "6.2", [0] + string("a"), .truncated),
    fault("A field block that ends inside a name", "6.2", [0, 3, 0x61], .truncated),
    fault(
      "Huffman-coded text with the symbol for its end", "5.2", [0, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0], .endOfStringSymbol),
    fault("Huffman-coded text with eight bits of padding", "5.2", [0, 0x82, 0x1F, 0xFF, 0], .longPadding),
    fault("Huffman-coded text whose padding has a zero bit", "5.2", [0, 0x81, 0x18, 0], .wrongPadding),
    fault("A table size update after a field", "4.2", [0x88, 0x20], .lateTableSize),
    fault("A table size above the client's maximum", "6.3", [0x3F, 0xE2, 0x1F], .tableSizeTooLarge(4097)),
    HostileCase(
      "A compression error in trailers is a connection error", "4.3",
      [.head(1), .data(1, "hello"), .block(1, [0x80], ends: true)],
      .violation(.compression(.unknownIndex(0), 1), .responded)),
    HostileCase(
      "A compression error ends all streams", "4.3", [.await(.end(3)), .head(3), .block(1, [0x80])],
      .violation(.compression(.unknownIndex(0), 1))
    ).calling(.get, .get.expecting(.violation(.compression(.unknownIndex(0), 1), nil))),
    HostileCase(
      "A compression error on a stream that the client has reset is a connection error", "4.3",
      head: [.await(.reset(1)), .await(.end(3)), .block(1, [0x80])],
      .violation(.compression(.unknownIndex(0), 1))
    ).calling(.reading(.cancelled(.head(1))).expecting(.failure(.cancelled)), .get),
  ]

  private static let unusual: [HostileCase] = [
    read("A field block with static table entries only", "6.1", [0x88]),
    read("A literal that is never indexed", "6.2.3", headBlock() + literal("x", "y", pattern: 0x10)),
    read("A status as a literal with an indexed name", "6.2", [0x08] + string("200")),
    read("A status with Huffman coding", "5.2", [0x48, 0x82, 0x10, 0x01]),
    read("A table size update to zero and back", "4.2", [0x20, 0x3F, 0xE1, 0x1F] + headBlock()),
    read("Three table size updates", "4.2", [0x20, 0x21, 0x22] + headBlock()),
    read("An index with superfluous continuation bytes", "5.1", [0x88] + [0x0F, 0x80, 0x80, 0x00] + string("x")),
    HostileCase(
      "A field larger than the table empties the table", "7541/4.4",
      [
        .await(.end(3)),
        .block(
          1,
          headBlock() + literal("a", "b", pattern: 0x40)
            + literal("x", String(repeating: "y", count: 5000), pattern: 0x40)),
        end, .block(3, headBlock() + [0xBE]),
      ], .violation(.compression(.unknownIndex(62), 3))
    ).calling(.get.expecting(.ok), .get),
    HostileCase(
      "A response refers to the fields of the previous response", "7541/2.3.2",
      [
        .await(.end(3)), .block(1, literal(":status", "200", pattern: 0x40) + literal("x-sum", "5", pattern: 0x40)),
        end,
        .block(3, [0xBF]), .data(3, "hello"), .block(3, [0xBE], ends: true),
      ], .ok
    ).calling(.get, .get.expecting(.response("hello", trailers: ["x-sum: 5"]))),
    HostileCase(
      "The dynamic table contains the fields of a stream that the client has reset", "4.3",
      head: [
        .await(.reset(1)), .await(.end(3)), .block(1, headBlock() + literal("x-sum", "5", pattern: 0x40)),
        .data(1, "late", ends: true),
        .head(3), .data(3, "hello"), .block(3, [0xBE], ends: true),
      ], .response("hello", trailers: ["x-sum: 5"]).with(.reset(1, [.cancel]))
    ).calling(.reading(.cancelled(.head(1))).expecting(.failure(.cancelled)), .get),
  ]

  private static let large = literal("x", String(repeating: "y", count: 4000), pattern: 0x40)

  private static let sizes: [HostileCase] = [
    HostileCase(
      "A field block whose few bytes refer to a large field often is a stream error", "10.5.1",
      [.block(1, headBlock() + large + [UInt8](repeating: 0xBE, count: 100))], .malformed(.fieldsTooLarge)),
    HostileCase(
      "A response with more fields than the limit is a stream error", "10.5.1",
      [.block(1, headBlock() + [UInt8](repeating: 0x90, count: 1000))], .malformed(.tooManyFields)),
    HostileCase(
      "A response with as many fields as the limit is read", "10.5.1",
      [.block(1, headBlock() + [UInt8](repeating: 0x90, count: 900)), end], .ok),
    HostileCase(
      "Fields too large for the limit leave the other stream alone", "10.5.1",
      [.await(.end(3)), .block(1, headBlock() + large + [UInt8](repeating: 0xBE, count: 100)), .respond(3)],
      .malformed(.fieldsTooLarge)
    ).calling(.get, .get.expecting(.ok)),
    HostileCase(
      "A field block above 256 KiB is a connection error", "10.5",
      [.frame(.headers, [], 1, [UInt8](repeating: 0x90, count: 16_384))]
        + [Step](repeating: .frame(.continuation, [], 1, [UInt8](repeating: 0x90, count: 16_384)), count: 16),
      .violation(.blockTooLarge(1))),
    HostileCase(
      "A field block of one byte in each frame is read", "6.10",
      [.block(1, [0x88, 0x0F, 0x2B, 0x01, 0x78], continuations: 4), end], .ok),
    HostileCase(
      "A response with 200 KB of fields is read", "10.5.1",
      [
        .block(
          1, headBlock() + (0..<50).flatMap { literal("x-\($0)", String(repeating: "y", count: 4000)) },
          continuations: 20), end,
      ], .ok),
  ]
}
