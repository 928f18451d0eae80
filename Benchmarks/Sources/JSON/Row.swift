import ApusJSON
import Foundation

/// An implementation that decodes or encodes.
enum Contender: String, CaseIterable {
  case apus
  case foundation
  /// Foundation's encoder without `sortedKeys` and `withoutEscapingSlashes`, so with other bytes.
  case unformatted
}

/// A row of the table.
struct Row {
  /// The name on the command line.
  let name: String
  /// The text in the table.
  let title: String
  /// Creates the operation and its input.
  let workload: () throws -> Workload

  init(_ name: String, _ title: String, _ workload: @autoclosure @escaping () throws -> Workload) {
    self.name = name
    self.title = title
    self.workload = workload
  }
}

/// An operation that all contenders perform.
struct Workload {
  /// The error of contenders with different results.
  struct Different: Error {}

  /// The closures that perform the operation a number of times, by contender.
  let contenders: [Contender: (Int) throws -> Void]
  /// Throws if the contenders have different results.
  let check: () throws -> Void

  /// Returns the operation that decodes JSON to a value.
  static func decode<Value: Decodable & Equatable>(
    _ type: Value.Type, from text: Data, _ coding: JSONCoding = .default, by decoder: JSONDecoder = JSONDecoder()
  ) -> Workload {
    Workload(
      contenders: [
        .apus: { for _ in 0..<$0 { keep(try coding.decode(type, from: text)) } },
        .foundation: { for _ in 0..<$0 { keep(try decoder.decode(type, from: text)) } },
      ],
      check: {
        guard try coding.decode(type, from: text) == decoder.decode(type, from: text) else { throw Different() }
      })
  }

  /// Returns the operation that parses JSON to a value of any type.
  static func parse(_ text: Data) -> Workload {
    Workload(
      contenders: [
        .apus: { for _ in 0..<$0 { keep(try JSONValue(parsing: text)) } },
        .foundation: { for _ in 0..<$0 { keep(try JSONSerialization.jsonObject(with: text)) } },
      ],
      check: {
        let count = (try JSONSerialization.jsonObject(with: text) as? [Any])?.count
        guard try JSONValue(parsing: text).array?.count == count else { throw Different() }
      })
  }

  /// Returns the operation that encodes a value.
  static func encode<Value: Encodable>(_ value: Value) -> Workload {
    let (coding, formatted, unformatted) = (JSONCoding.default, JSONEncoder(), JSONEncoder())
    formatted.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Workload(
      contenders: [
        .apus: { for _ in 0..<$0 { keep(try coding.encode(value)) } },
        .foundation: { for _ in 0..<$0 { keep(try formatted.encode(value)) } },
        .unformatted: { for _ in 0..<$0 { keep(try unformatted.encode(value)) } },
      ],
      check: {
        guard try coding.encode(value) == formatted.encode(value) else { throw Different() }
      })
  }
}

/// Prevents the compiler from removing the computation of a value.
@inline(never) private func keep<Value>(_ value: Value) {}
