#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that stands below a path of keys.
struct NestedValue<Value: Decodable>: DecodableWithConfiguration {
  let value: Value

  init(from decoder: any Decoder, configuration keys: [String]) throws {
    guard let first = keys.first else {
      value = try Value(from: decoder)
      return
    }
    var container = try decoder.container(keyedBy: AnyKey.self)
    var key = container.key(first)
    for next in keys.dropFirst() {
      container = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
      key = container.key(next)
    }
    value = try container.decode(Value.self, forKey: key)
  }
}

/// A key that is known only at run time.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<AnyKey> {
  /// The key as written, or in the form that a snake-case coding gives it.
  func key(_ name: String) -> AnyKey {
    let plain = AnyKey(name)
    if contains(plain) { return plain }
    let camel = AnyKey(name.camelCased)
    return contains(camel) ? camel : plain
  }
}

extension String {
  /// What `JSONDecoder` makes of a key in snake case; underscores at both ends stay.
  var camelCased: String {
    let start = prefix { $0 == "_" }
    let end = dropFirst(start.count).reversed().prefix { $0 == "_" }
    let words = split(separator: "_")
    guard words.count > 1, let first = words.first else { return self }
    return start + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + String(end)
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
