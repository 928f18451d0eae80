public import ApusMacros
import Foundation

// Each model is declared twice: with the macro, and with Codable only for Foundation's coders.

@JSONCodable struct Film: Codable, Equatable {
  @JSONCodable struct Person: Codable, Equatable {
    var name: String
    var born: Int16?
  }

  var filmId: Int
  var title: String
  var rating: Optional<Double>
  var genres: [String]
  var `default`: Bool
  var released: Date?
  var poster: Data?
  var home: URL?
  var people: [Person]
  var byRole: [String: [Person]]
  private var writer: Int = 3
  var suit: Suit
  var level: Level?
  var shapes: [Shape]
  /// A type that only conforms to Codable.
  var size: Size
  let x, y: Int
  var seen = false
  var half: String { "half of \(title)" }
  static let limit = 3

  enum CodingKeys: String, CodingKey {
    case filmId, title, rating, genres, `default`, released, poster, people, byRole, writer, suit, level, shapes, size
    case x, y
    case home = "homePageURL"
  }
}

@JSONCodable enum Suit: String, Codable {
  case hearts
  case spades = "Spades"
}
@JSONCodable enum Level: UInt8, Codable {
  case low = 1
  case high
}

@JSONCodable indirect enum Shape: Codable, Equatable {
  case point
  case circle(radius: Double)
  case twoWords(String, reader: Int?, value: Shape?)
  case renamed(inner: [Int])
  case keyword(in: Int, `default`: Int)

  enum CodingKeys: String, CodingKey {
    case point, circle, twoWords, keyword
    case renamed = "other"
  }
  enum RenamedCodingKeys: String, CodingKey { case inner = "in" }
}

struct Size: Codable, Equatable {
  var width: Int
}

/// A generic type.
@JSONCodable public struct Page<Item: Codable & Equatable>: Codable, Equatable {
  /// Some items.
  public var items: [Item]
  /// An optional item.
  public var next: Item?
}

enum Models {}

extension Models {
  @JSONCodable package struct Inside: Codable {
    package var id: Int
  }
}

/// A model with constants that have values. It is only Encodable, because Codable warns about such constants.
@JSONCodable struct Tagged: Encodable {
  let kind = "film"
  var id: Int
}

@JSONCodable struct Settings: Codable, Equatable {
  var volume: Double = 0.5
  var language = "en"
  var isMuted = false
  var names: [String] = ["a"]
  var limit: Int? = 10
}
