import ApusJSON
import Foundation

/// Types that use every feature of `Codable`, for the comparison with Foundation's coders.
struct Scalars: Codable, Equatable {
  var bool = true
  var string = "Straße 5, \"q\" \\ \u{1F600} \u{7}"
  var double = 0.1
  var float: Float = 1.1
  var int = -42
  var int8: Int8 = -128
  var int16: Int16 = 32_767
  var int32: Int32 = .min
  var int64: Int64 = .min
  var int128: Int128 = .max
  var uint: UInt = 7
  var uint8: UInt8 = 255
  var uint16: UInt16 = 65_535
  var uint32: UInt32 = .max
  var uint64: UInt64 = .max
  var uint128: UInt128 = .max
}

struct FoundationValues: Codable, Equatable {
  var date = Date(timeIntervalSince1970: 1_795_253_400)
  var data = Data([0, 1, 254, 255])
  var url = URL(string: "https://example.com/a%20b?c=d#e")
  var decimal = Decimal(string: "3.14159265358979323846264338327950288419") ?? 0
  var uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
  var dates = [Date(timeIntervalSince1970: 0)]
  var byName: [String: Data] = ["one_two": Data([7])]
}

struct Optionals: Codable, Equatable {
  var present: Int? = 1
  var absent: Int?
  var text: String?
  var list: [Int?]? = [1, nil, 3]
  var nested: Scalars?
  var flag: Bool?
  var number: Double?
  var small: Float?
  var byte: UInt8?
}

enum Suit: String, Codable, CaseIterable { case hearts, spades }

enum Shape: Codable, Equatable {
  case point
  case circle(radius: Double)
  case named(String, size: Int)
  indirect case pair(Shape, Shape)
}

struct Containers: Codable, Equatable {
  var strings = ["a", "", "ü"]
  var ints = [1, -2, 3]
  var doubles = [0.5, 1e300, -0.0]
  var bools = [true, false]
  var matrix = [[1, 2], [], [3]]
  var byName = ["one": 1, "two_words": 2]
  var byNumber = [1: "a", -2: "b"]
  var bySuit: [Suit: Int] = [.hearts: 1]
  var structs: [String: [Optionals]] = ["x": [Optionals()]]
  var set: Set<Int> = [5]
  var suits = Suit.allCases
  var shapes: [Shape] = [.point, .circle(radius: 1), .named("x", size: 2), .pair(.point, .circle(radius: 2))]
  var range = 1..<5
}

class Animal: Codable {
  var legCount = 4

  init() {}

  private enum CodingKeys: CodingKey { case legCount }

  required init(from decoder: any Decoder) throws {
    legCount = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .legCount)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(legCount, forKey: .legCount)
  }
}

/// A subclass that encodes its superclass in a separate member and reopens its container.
final class Dog: Animal, Equatable {
  var dogName = "Rex"

  override init() { super.init() }

  private enum CodingKeys: CodingKey { case dogName, animal }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    dogName = try container.decode(String.self, forKey: .dogName)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try super.encode(to: container.superEncoder())
    try container.encode(dogName, forKey: .dogName)
  }

  static func == (one: Dog, other: Dog) -> Bool { one.dogName == other.dogName && one.legCount == other.legCount }
}

/// A value with manually nested containers, some of which are opened twice.
struct Manual: Codable, Equatable {
  var title = "t"
  var width = 1
  var height = 2
  var points = [1, 2, 3]

  private enum Keys: CodingKey { case title, size, points }
  private enum Size: CodingKey { case width, height }

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    title = try container.decode(String.self, forKey: .title)
    let size = try container.nestedContainer(keyedBy: Size.self, forKey: .size)
    var list = try container.nestedUnkeyedContainer(forKey: .points)
    width = try size.decode(Int.self, forKey: .width)
    points = []
    while !list.isAtEnd {
      if try !list.decodeNil() { points.append(try list.decode(Int.self)) }
    }
    height = try size.decode(Int.self, forKey: .height)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var size = container.nestedContainer(keyedBy: Size.self, forKey: .size)
    try size.encode(height, forKey: .height)
    var list = container.nestedUnkeyedContainer(forKey: .points)
    for point in points { try list.encode(point) }
    try container.encode(title, forKey: .title)
    var again = container.nestedContainer(keyedBy: Size.self, forKey: .size)
    try again.encode(width, forKey: .width)
  }
}

/// A type that tries several representations.
enum Flexible: Codable, Equatable {
  case number(Int)
  case text(String)
  case list([Flexible])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .list(try container.decode([Flexible].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    }
  }
}
