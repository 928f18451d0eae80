#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A key or index in the path of a nested value.
struct QueryKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  /// Whether the key is the index of a list. A key with an integer value can also be a name.
  let isIndex: Bool

  init(_ name: String) {
    (stringValue, intValue, isIndex) = (name, nil, false)
  }

  init(index: Int) {
    (stringValue, intValue, isIndex) = (String(index), index, true)
  }

  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { self.init(index: intValue) }
}

/// A writer that flattens values into names and texts: common types directly, all other types with ``QueryEncoder``.
struct QueryWriter {
  let style: QueryStyle
  private(set) var items: [(name: String, value: String)] = []
  /// The name of the list whose joined values are in the last item.
  private var joinedList: String?

  init(style: QueryStyle) {
    self.style = style
  }

  mutating func write(_ value: (any Encodable)?, at path: [any CodingKey]) throws {
    guard let value else { return try writeNil(at: path) }
    if let text = try text(of: value, at: path) {
      try append(text, at: path)
    } else if let list = value as? any ListOfValues {
      beginList()
      for (index, value) in list.values.enumerated() { try write(value, at: path + [QueryKey(index: index)]) }
    } else if let values = (value as? any DictionaryOfValues)?.sortedValues {
      for (key, value) in values { try write(value, at: path + [QueryKey(key)]) }
    } else {
      try encode(value, at: path)
    }
  }

  mutating func writeNil(at path: [any CodingKey]) throws {
    switch style.nils {
    case .omitted: break
    case .empty: try append("", at: path)
    case .null: try append("null", at: path)
    }
  }

  /// Starts a new list.
  mutating func beginList() {
    joinedList = nil
  }

  private mutating func encode(_ value: any Encodable, at path: [any CodingKey]) throws {
    let sink = QuerySink(writer: self)
    // Removed here, so that the sink's array is not shared and not copied at each append.
    items = []
    try value.encode(to: QueryEncoder(sink: sink, codingPath: path))
    self = sink.writer
  }

  private mutating func append(_ text: String, at path: [any CodingKey]) throws {
    guard let first = path.first, !first.isIndex else {
      throw QueryEncodingError(name: "", reason: "has no names: it must be made of properties or keys")
    }
    let name = name(of: path)
    guard case .joined(let separator) = style.arrays, let index = path.firstIndex(where: \.isIndex) else {
      items.append((name, text))
      return
    }
    guard index == path.count - 1 else {
      let list = self.name(of: Array(path[..<index]))
      throw QueryEncodingError(name: list, reason: "is a list of values that are not single texts")
    }
    if joinedList == name, let last = items.indices.last {
      items[last].value += separator + text
    } else {
      items.append((name, text))
      joinedList = name
    }
  }

  /// Returns the parameter's name: the keys joined in the style in effect.
  func name(of path: [any CodingKey]) -> String {
    var name = path.first?.stringValue ?? ""
    for key in path.dropFirst() {
      if !key.isIndex {
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

extension CodingKey {
  fileprivate var isIndex: Bool { (self as? QueryKey)?.isIndex == true }
}

/// Collections whose elements are written without an encoder.
private protocol ListOfValues { var values: [any Encodable] { get } }
extension Array: ListOfValues where Element: Encodable { fileprivate var values: [any Encodable] { self } }
extension Set: ListOfValues where Element: Encodable {
  // Sorted, so that equal values result in equal requests.
  fileprivate var values: [any Encodable] { map { ("\($0)", $0) }.sorted { $0.0 < $1.0 }.map(\.1) }
}

/// Dictionaries, sorted by key. `nil` if the keys are not strings or integers.
private protocol DictionaryOfValues { var sortedValues: [(String, any Encodable)]? { get } }
extension Dictionary: DictionaryOfValues where Value: Encodable {
  fileprivate var sortedValues: [(String, any Encodable)]? {
    guard Key.self is any CodingKeyRepresentable.Type else { return nil }
    return compactMap { key, value in
      (key as? any CodingKeyRepresentable).map { ($0.codingKey.stringValue, value) }
    }.sorted { $0.0 < $1.0 }
  }
}

extension QueryWriter {
  /// Returns the text of a single value, or `nil` if the value consists of several values.
  func text(of value: any Encodable, at path: [any CodingKey]) throws -> String? {
    if let text = Self.plainText(of: value) { return text }
    switch value {
    case let text as String: return text
    case let bool as Bool: return style.bools == .words ? String(bool) : bool ? "1" : "0"
    case let number as Double: return try numberText(number, String(number), at: path)
    case let number as Float: return try numberText(Double(number), String(number), at: path)
    case let date as Date: return try dateText(date, at: path)
    case let url as URL: return url.absoluteString
    case let id as UUID: return id.uuidString
    case let data as Data: return data.base64EncodedString()
    case let number as Decimal: return try numberText(number.isNaN ? .nan : 0, number.description, at: path)
    case let integer as any BinaryInteger: return integer.description
    default: return nil
    }
  }

  /// Returns the text of a string or an integer, or `nil`. Strings and integers are the most frequent types, and
  /// comparing types is faster than a dynamic cast.
  static func plainText(of value: any Encodable) -> String? {
    let type = type(of: value)
    if type == String.self { return value as? String }
    if type == Int.self { return (value as? Int).map { String($0) } }
    return nil
  }

  private func numberText(_ number: Double, _ text: String, at path: [any CodingKey]) throws -> String {
    guard number.isFinite else {
      throw QueryEncodingError(name: name(of: path), reason: "is not a finite number")
    }
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private func dateText(_ date: Date, at path: [any CodingKey]) throws -> String {
    let seconds = date.timeIntervalSince1970
    guard abs(seconds) < Self.endOfTime else {
      throw QueryEncodingError(name: name(of: path), reason: "is not a date that can be written")
    }
    switch style.dates {
    case .iso8601: return date.formatted(.iso8601)
    case .millisecondsSince1970: return String(Int64((seconds * 1000).rounded()))
    case .custom(let text): return try text(date)
    case .secondsSince1970: return try numberText(seconds, String(seconds), at: path)
    }
  }

  /// The seconds from 1970 to the year 10000, which ISO 8601 cannot express.
  private static let endOfTime: Double = 253_402_300_800
}
