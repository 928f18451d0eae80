#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONOutput {
  /// Encodes a type of Foundation, or a `JSONValue`.
  func encodeOther<T: Encodable>(_ value: T, as node: Int) throws {
    switch value as Any {
    case let value as Date: try encode(value, as: node)
    case let value as Data:
      guard coding.bytes == .base64 else { return try value.encode(to: ValueEncoder(self, node)) }
      encode(value.base64EncodedString(), as: node)
    case let value as URL: encode(value.absoluteString, as: node)
    case let value as Decimal:
      guard value.isFinite else { throw error(value, "The number is not finite.", at: node) }
      scalar(node) { $0.append(unquoted: value.description) }
    case let value as JSONNumber: scalar(node) { $0.append(unquoted: value.description) }
    case let value as JSONValue:
      if coding.isPrettyPrinted { encode(nodesOf: value, as: node) } else { scalar(node) { $0.append(json: value) } }
    default: try value.encode(to: ValueEncoder(self, node))
    }
  }

  /// Encodes a `JSONValue` as nodes, because pretty-printed text is written from nodes. Uses an explicit stack instead
  /// of recursion, as ``JSONText/append(json:)`` does.
  private func encode(nodesOf value: JSONValue, as node: Int) {
    var rest = [(value, node)]
    while let (value, node) = rest.popLast() {
      switch value {
      case .array(let elements):
        open(node, .array)
        for element in elements { rest.append((element, addElement(to: node))) }
      case .object(let members):
        open(node, .object)
        for (name, member) in members { rest.append((member, addMember(unconverted: name, to: node))) }
      case .null, .bool, .number, .string: scalar(node) { $0.append(json: value) }
      }
    }
  }

  private func encode(_ date: Date, as node: Int) throws {
    switch coding.dates {
    case .secondsSince1970: try encode(date.timeIntervalSince1970, as: node)
    case .millisecondsSince1970: try encode(date.timeIntervalSince1970 * 1000, as: node)
    case .iso8601, .iso8601WholeSeconds, .custom:
      let text: String
      do {
        text = try coding.text(date)
      } catch {
        throw JSONCoding.unencodable(date, at: codingPath(of: node), error)
      }
      encode(text, as: node)
    }
  }
}
