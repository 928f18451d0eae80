import Foundation
import Testing

@testable import ApusJSON

/// A value or an error, in a form that allows comparing both coders.
enum Outcome<Value: Equatable>: Equatable, CustomStringConvertible {
  case value(Value)
  case error(String)

  init(_ decode: () throws -> Value) {
    do {
      self = .value(try decode())
    } catch let error as DecodingError {
      self = .error(Self.text(error))
    } catch {
      self = .error("\(type(of: error))")
    }
  }

  private static func text(_ error: DecodingError) -> String {
    func path(_ context: DecodingError.Context) -> String {
      context.codingPath.map(\.stringValue).joined(separator: "/")
    }
    return switch error {
    case .keyNotFound(let key, let context): "no key \(key.stringValue) at \(path(context))"
    // For a `null` instead of a Boolean, Foundation reports a different error.
    case .valueNotFound(is Bool.Type, let context): "mismatch at \(path(context))"
    case .valueNotFound(_, let context): "null at \(path(context))"
    case .typeMismatch(_, let context): "mismatch at \(path(context))"
    case .dataCorrupted(let context): "corrupted at \(path(context))"
    @unknown default: "unknown"
    }
  }

  var description: String {
    switch self {
    case .value(let value): "\(value)"
    case .error(let text): text
    }
  }
}

/// Expects that both decoders have the same result for a text.
func expectAgreement<Value: Decodable & Equatable>(
  _ type: Value.Type, _ text: some Collection<UInt8>, _ coding: JSONCoding = .default,
  _ location: SourceLocation = #_sourceLocation
) {
  let data = Data(text)
  var foundation = coding
  foundation.coder = .foundation
  let ours = Outcome { try coding.decode(type, from: data) }
  let theirs = Outcome { try foundation.decode(type, from: data) }
  if case .error("JSONError") = ours {
    // Foundation checks numbers and strings when they are decoded, and ignores a comma before the end of a container.
    guard case .value = theirs else { return }
    let isValid = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
    let hasTrailingComma = String(decoding: data, as: UTF8.self).contains(/,\s*[\]}]/)
    #expect(
      !isValid || hasTrailingComma, "\(type) of \(String(decoding: data, as: UTF8.self))", sourceLocation: location)
    return
  }
  // Foundation reports no coding path for a number that is out of range.
  if case .error("corrupted at ") = theirs, case .error(let text) = ours, text.hasPrefix("corrupted at ") { return }
  #expect(ours == theirs, "\(type) of \(String(decoding: data, as: UTF8.self))", sourceLocation: location)
}
