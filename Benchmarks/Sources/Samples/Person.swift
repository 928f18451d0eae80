/// The object of the benchmarks: eight members of mixed types.
public struct Person: Codable, Sendable, Equatable {
  /// A number.
  public var id: Int
  /// A text.
  public var name: String
  /// A Boolean.
  public var isActive: Bool
  /// A number with decimals.
  public var score: Double
  /// Two texts.
  public var tags: [String]
  /// A text, or `null`.
  public var nickname: String?
  /// An object.
  public var address: Address
  /// A small number.
  public var visits: Int
}

/// The object inside a `Person`.
public struct Address: Codable, Sendable, Equatable {
  /// A text.
  public var city: String
  /// A text.
  public var zip: String
}

extension Person {
  /// The object of 152 bytes, as JSON.
  public static let text = object(members(of: 0))

  /// Returns an array of objects as JSON: 100 objects take 16 KB, and 6,500 objects take 1 MB.
  public static func array(_ count: Int) -> String {
    array(of: (0..<count).map { object(members(of: $0)) })
  }

  /// Returns the members of an object as JSON, in the order of their declaration.
  public static func members(of index: Int) -> [String] {
    if index == 0 {
      return [
        #""id":4711"#, #""name":"Ada Byron""#, #""isActive":true"#, #""score":98.25"#, #""tags":["math","engine"]"#,
        #""nickname":"ada""#, #""address":{"city":"London","zip":"W1"}"#, #""visits":7"#,
      ]
    }
    let names = ["Ada Byron", "Grace Hopper", "Alan Turing", "Edsger Dijkstra", "Barbara Liskov"]
    let cities = ["London", "Arlington", "Wilmslow", "Nuenen", "Cambridge"]
    let name = names[index % names.count]
    return [
      #""id":\#(1000 + index * 7)"#, #""name":"\#(name)""#, #""isActive":\#(index.isMultiple(of: 3))"#,
      #""score":\#(Double(index % 400) / 4)"#, #""tags":["math","tag\#(index % 10)"]"#,
      #""nickname":\#(index.isMultiple(of: 2) ? "null" : #""nick\#(index % 90)""#)"#,
      #""address":{"city":"\#(cities[index % cities.count])","zip":"\#(10_000 + index % 9_000)"}"#,
      #""visits":\#(index % 50)"#,
    ]
  }

  /// Returns the text of an object.
  public static func object(_ members: [String]) -> String { "{" + members.joined(separator: ",") + "}" }

  /// Returns the text of an array.
  public static func array(of elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
}
