#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One step into a nested value.
struct QueryKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  init(stringValue: String) { self.init(stringValue) }
}

/// Flattens values into names and texts. Common types directly, all others through `Encodable`.
struct QueryWriter {
  let style: QueryStyle
  var items: [(name: String, value: String)] = []

  init(style: QueryStyle) {
    self.style = style
  }

  mutating func write(_ value: (any Encodable)?, at path: [any CodingKey]) throws {
    guard let value else { return writeNil(at: path) }
    if let text = try text(of: value, at: path) {
      append(text, at: path)
    } else if let list = value as? any ListOfValues {
      try write(list: list.values, at: path)
    } else if let dictionary = value as? any DictionaryOfValues {
      // Dictionaries have no order of their own; sorted keys make the same request twice the same.
      for (key, value) in dictionary.sortedValues { try write(value, at: path + [QueryKey(key)]) }
    } else {
      let sink = QuerySink(writer: self)
      try value.encode(to: QueryEncoder(sink: sink, codingPath: path))
      items = sink.writer.items
    }
  }

  mutating func writeNil(at path: [any CodingKey]) {
    switch style.nils {
    case .omitted: break
    case .empty: append("", at: path)
    case .null: append("null", at: path)
    }
  }

  mutating func write(list: [any Encodable], at path: [any CodingKey]) throws {
    guard case .joined(let separator) = style.arrays else {
      for (index, value) in list.enumerated() { try write(value, at: path + [QueryKey(intValue: index)]) }
      return
    }
    let texts = try list.map { element in
      if let text = try text(of: element, at: path) { return text }
      throw QueryEncodingError(name: name(of: path), reason: "is a list of values that are not single texts")
    }
    append(texts.joined(separator: separator), at: path)
  }

  /// The text of a single value; `nil` when it is made of several.
  private func text(of value: any Encodable, at path: [any CodingKey]) throws -> String? {
    switch value {
    case let text as String: return text
    case let number as Int: return String(number)
    case let bool as Bool: return style.bools == .words ? String(bool) : bool ? "1" : "0"
    case let number as Double: return try text(of: number, at: path)
    case let number as Float: return try text(of: Double(number), at: path, short: String(number))
    case let date as Date: return try text(of: date)
    case let url as URL: return url.absoluteString
    case let id as UUID: return id.uuidString
    case let data as Data: return data.base64EncodedString()
    case let number as Decimal: return number.description
    case let integer as any BinaryInteger: return integer.description
    default: return nil
    }
  }

  private func text(of number: Double, at path: [any CodingKey], short: String? = nil) throws -> String {
    guard number.isFinite else {
      throw QueryEncodingError(name: name(of: path), reason: "is not a finite number")
    }
    let text = short ?? String(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private func text(of date: Date) throws -> String {
    switch style.dates {
    case .iso8601: return date.formatted(.iso8601)
    case .millisecondsSince1970: return String(Int64((date.timeIntervalSince1970 * 1000).rounded()))
    case .custom(let text): return try text(date)
    case .secondsSince1970:
      let seconds = String(date.timeIntervalSince1970)
      return seconds.hasSuffix(".0") ? String(seconds.dropLast(2)) : seconds
    }
  }

  private mutating func append(_ text: String, at path: [any CodingKey]) {
    items.append((name(of: path), text))
  }

  /// The parameter's name: keys joined as the style says, the index of a list only where it asks for it.
  private func name(of path: [any CodingKey]) -> String {
    var name = path.first?.stringValue ?? ""
    for key in path.dropFirst() {
      if key.intValue == nil {
        name += style.nesting == .brackets ? "[\(key.stringValue)]" : ".\(key.stringValue)"
      } else {
        switch style.arrays {
        case .repeated, .joined: break
        case .brackets: name += "[]"
        case .indexed: name += "[\(key.stringValue)]"
        }
      }
    }
    return name
  }
}

/// Collections by what they hold, so that they need not go through an encoder.
private protocol ListOfValues { var values: [any Encodable] { get } }
extension Array: ListOfValues where Element: Encodable { fileprivate var values: [any Encodable] { self } }
extension Set: ListOfValues where Element: Encodable { fileprivate var values: [any Encodable] { Array(self) } }

private protocol DictionaryOfValues { var sortedValues: [(String, any Encodable)] { get } }
extension Dictionary: DictionaryOfValues where Key == String, Value: Encodable {
  fileprivate var sortedValues: [(String, any Encodable)] {
    sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
