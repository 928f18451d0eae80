import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The result of a request of a batch, written as a line of JSON.
struct BatchResult: Sendable {
  enum Outcome: Sendable {
    case responded(HTTPResponse, Data, interim: [HTTPResponse])
    case failed(error: String, code: String, state: RequestState)
  }

  /// The request's number; `nil` if its line had none.
  var number: Int?
  var outcome: Outcome
  /// The effect of the cache; `nil` without a cache.
  var cache: CacheOutcome?

  init(_ number: Int?, _ outcome: Outcome) {
    self.number = number
    self.outcome = outcome
  }

  /// Creates the result of a failed call.
  init(_ number: Int, _ error: CallError) {
    self.init(
      number, .failed(error: error.description, code: error.code.rawValue, state: error.requestState))
  }

  /// Creates the result of an invalid line.
  init(_ unusable: BatchLine.Unusable) {
    self.init(unusable.number, .failed(error: unusable.reason, code: "badLine", state: .notSent))
  }

  /// The line with its newline.
  var line: Data {
    var bytes: [UInt8] = []
    bytes += "{\"n\":\(number.map { String($0) } ?? "null")".utf8
    switch outcome {
    case .responded(let head, let content, let interim):
      bytes.reserveCapacity(content.count + content.count / 8 + 512)
      bytes += ",\"status\":\(head.status.code),\"headers\":[".utf8
      Self.appendJoined(head.headerFields, to: &bytes) { field, bytes in
        bytes.append(UInt8(ascii: "["))
        JSONText.appendQuoted(field.name.canonicalName.utf8, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        JSONText.appendQuoted(field.text.utf8, to: &bytes)
        bytes.append(UInt8(ascii: "]"))
      }
      bytes += "],\"body\":".utf8
      Self.append(content, to: &bytes)
      bytes += ",\"interim\":[".utf8
      Self.appendJoined(interim, to: &bytes) { Self.append(interim: $0, to: &$1) }
      bytes.append(UInt8(ascii: "]"))
    case .failed(let error, let code, let state):
      for (name, value) in [("error", error), ("code", code), ("requestState", "\(state)")] {
        bytes += ",\"\(name)\":".utf8
        JSONText.appendQuoted(value.utf8, to: &bytes)
      }
    }
    if let cache { bytes += ",\"cache\":\"\(cache.use.rawValue)\",\"stored\":\(cache.isStored)".utf8 }
    bytes += "}\n".utf8
    return Data(bytes)
  }

  /// Appends the status and fields of an interim response; repeated fields are combined (RFC 9110 §5.3).
  private static func append(interim head: HTTPResponse, to bytes: inout [UInt8]) {
    bytes += "[\(head.status.code),{".utf8
    var names: [HTTPField.Name] = []
    for field in head.headerFields where !names.contains(field.name) { names.append(field.name) }
    appendJoined(names, to: &bytes) { name, bytes in
      JSONText.appendQuoted(name.canonicalName.utf8, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      let value = head.headerFields[fields: name].map(\.text).joined(separator: ", ")
      JSONText.appendQuoted(value.utf8, to: &bytes)
    }
    bytes += "}]".utf8
  }

  /// Appends content as text: UTF-8 if valid, otherwise Latin-1, in which every byte is a character.
  private static func append(_ content: Data, to bytes: inout [UInt8]) {
    if String(validating: content, as: UTF8.self) != nil {
      JSONText.appendQuoted(content, to: &bytes)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in content {
      if byte < 0x80 {
        JSONText.appendEscaped(byte, to: &bytes)
      } else {
        bytes += [0xC0 | byte >> 6, 0x80 | byte & 0x3F]
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func appendJoined<Element>(
    _ elements: some Sequence<Element>, to bytes: inout [UInt8], append: (Element, inout [UInt8]) -> Void
  ) {
    var isFirst = true
    for element in elements {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      append(element, &bytes)
    }
  }
}
