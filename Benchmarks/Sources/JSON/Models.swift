import Foundation
import Samples

/// An object whose strings have escapes and characters outside ASCII.
struct Note: Codable, Equatable {
  var title: String
  var text: String

  static func array(_ count: Int) -> String {
    Person.array(
      of: (0..<count).map { index in
        #"{"title":"Zürich → \"Köln\" \#(index)","text":"line one\nline two\t\u00e9t\u00e9 \ud83d\ude00 日本語\\path"}"#
      })
  }
}

/// An object whose keys are written in snake case.
struct Order: Codable, Equatable {
  var orderNumber: Int
  var customerName: String
  var isExpressDelivery: Bool
  var totalPrice: Double
  var shippingAddressLine: String

  static func array(_ count: Int) -> String {
    Person.array(
      of: (0..<count).map { index in
        #"{"order_number":\#(index),"customer_name":"Grace Hopper","is_express_delivery":\#(index.isMultiple(of: 2)),"#
          + #""total_price":\#(Double(index) / 4),"shipping_address_line":"\#(index) Main Street"}"#
      })
  }
}

/// An object with dates in ISO 8601.
struct Event: Codable, Equatable {
  var id: Int
  var createdAt: Date
  var updatedAt: Date

  static func array(_ count: Int) -> String {
    Person.array(
      of: (0..<count).map { index in
        let (day, minute) = (10 + index % 18, 10 + index % 50)
        return
          #"{"id":\#(index),"createdAt":"2025-03-\#(day)T07:\#(minute):11Z","updatedAt":"2026-11-\#(day)T19:\#(minute):59Z"}"#
      })
  }
}

/// An object with 4,000 members, which are decoded in random order.
struct Wide: Decodable, Equatable {
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static let keys: [Key] = {
    var generator = Seeded()
    return (0..<4000).map { Key(stringValue: "member\($0)") }.shuffled(using: &generator)
  }()

  let values: [Int]

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    values = try Self.keys.map { try container.decode(Int.self, forKey: $0) }
  }

  static let text = Person.object((0..<4000).map { #""member\#($0)":\#($0)"# })
}

/// JSON of `Person` that is not written like an encoder's output.
enum Unusual {
  /// Returns an array of objects, each with its members in another order.
  static func shuffled(_ count: Int) -> String {
    var generator = Seeded()
    return Person.array(
      of: (0..<count).map { Person.object(Person.members(of: $0).shuffled(using: &generator)) })
  }

  /// Returns an array with line breaks and indentation.
  static func pretty(_ count: Int) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .prettyPrinted
    return try encoder.encode(try JSONDecoder().decode([Person].self, from: Data(Person.array(count).utf8)))
  }
}

/// Arrays of numbers.
enum Numbers {
  /// Random doubles, most of which need 17 digits.
  static let doubles: [Double] = {
    var generator = Seeded()
    return (0..<2000).map { _ in Double.random(in: -1000...1000, using: &generator) }
  }()
  static let integers: [Int] = {
    var generator = Seeded()
    return (0..<2000).map { Int.random(in: 0...(1 << ($0 % 50 + 1)), using: &generator) }
  }()
  /// Positions with six decimals.
  static let coordinates: [[Double]] = {
    var generator = Seeded()
    return (0..<1000).map { _ in
      [
        Double(Int.random(in: -180_000_000...180_000_000, using: &generator)) / 1e6,
        Double(Int.random(in: -90_000_000...90_000_000, using: &generator)) / 1e6,
      ]
    }
  }()
  static let members = Dictionary(uniqueKeysWithValues: (0..<4000).map { ("member\($0)", $0) })
}
