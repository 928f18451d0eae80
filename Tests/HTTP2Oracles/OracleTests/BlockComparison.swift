import Testing

@testable import ApusNIO

/// The result of another decoder for a field block.
enum OracleReading: Sendable {
  case fields([FieldLine])
  /// The name of the error.
  case refused(String)
}

/// A comparison of ``FieldDecoder`` with another decoder, block by block.
///
/// docs/conformance.md explains each named difference.
struct BlockComparison {
  enum Verdict: Equatable {
    case same
    case explained(String)
    case unexplained
  }

  private(set) var accepted = 0
  private(set) var refused = 0
  private(set) var explained: Set<String> = []

  /// Compares the results for one block. Returns whether both decoders can decode the next block of the connection.
  mutating func compare(
    _ ours: Result<[DecodedField], CompressionFault>, with theirs: OracleReading, _ block: [UInt8], seed: UInt64
  ) -> Bool {
    switch Self.verdict(ours, theirs) {
    case .same: break
    case .explained(let name):
      explained.insert(name)
      return false
    case .unexplained:
      Issue.record("seed \(seed), block \(hexadecimal(block)): \(ours.map { $0.map(\.line) }), but \(theirs)")
      return false
    }
    guard case .success = ours else {
      refused += 1
      return false
    }
    accepted += 1
    return true
  }

  static func verdict(_ ours: Result<[DecodedField], CompressionFault>, _ theirs: OracleReading) -> Verdict {
    switch (ours, theirs) {
    case (.failure, .refused): .same
    case (.success(let fields), .fields(let lines)):
      if fields.count == lines.count, zip(fields, lines).allSatisfy({ $0.isSame(as: $1) }) {
        .same
      } else {
        lines.contains { isReplaced($0.value) || isReplaced($0.name) } ? .explained("nio-utf8") : .unexplained
      }
    case (.failure(.integerTooLarge), .fields): .explained("long-integer")
    case (.success(let fields), .refused("EmptyLiteralHeaderFieldName")):
      fields.contains { $0.facts.nameCount == 0 && $0.facts.broken != nil }
        ? .explained("nio-empty-name") : .unexplained
    case (.success, .refused("IllegalDynamicTableSizeChange")): .explained("table-sizes")
    default: .unexplained
    }
  }

  /// Whether a string contains U+FFFD, with which NIOHPACK replaces bytes that are not UTF-8.
  private static func isReplaced(_ bytes: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: [0xEF, 0xBF, 0xBD]) }
  }

  /// Checks that the comparison was meaningful: blocks were neither all accepted nor all refused.
  func expectBoth() {
    let count = accepted + refused
    #expect(count < 200 || (accepted > count / 4 && refused > count / 20), "\(accepted) accepted, \(refused) refused")
  }
}
