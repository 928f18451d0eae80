import SwiftSyntax
import SwiftSyntaxBuilder
import Testing

@Suite("The code that @JSONCodable adds") struct ExpansionTests {
  private static let film = """
    @JSONCodable
    public struct Film: Codable {
      static let limit = 3
      public let id: Int
      var title: String { didSet { print(title) } }
      var genres: [String] = []
      private var note: String?
      let kind = "film"
      lazy var words = 1
      var isLong: Bool { id > 5 }
    }
    """
  private static let filmExpansion = """
    extension Film: JSONReadable, JSONWritable {
      public init(from reader: inout JSONReader) throws {
        var id: Int?
        var title: String?
        var genres: [String]?
        var note: String?
        try reader.beginObject()
        while try reader.nextMember() {
          if reader.isAt("id") {
            try reader.read(into: &id)
          } else if reader.isAt("title") {
            try reader.read(into: &title)
          } else if reader.isAt("genres") {
            try reader.read(into: &genres)
          } else if reader.isAt("note") {
            try reader.readIfPresent(into: &note)
          } else {
            try reader.skip()
          }
        }
        self.id = try reader.require(id, "id")
        self.title = try reader.require(title, "title")
        if let genres {
          self.genres = genres
        }
        self.note = note
      }

      public func write(to writer: inout JSONWriter) throws {
        writer.beginObject()
        try writer.write(genres, as: "genres")
        try writer.write(id, as: "id")
        try writer.write(kind, as: "kind")
        try writer.write(note, as: "note")
        try writer.write(title, as: "title")
        writer.endObject()
      }
    }
    """

  @Test("The expansion reads a struct member by member and writes its members in the order of their names")
  func structure() {
    expect(Self.film, expandsTo: Self.filmExpansion)
  }

  @Test("CodingKeys rename members and omit properties")
  func codingKeys() {
    expect(
      """
      @JSONCodable
      struct Film {
        var id: Int
        var seen = false
        var reader: String
        enum CodingKeys: String, CodingKey {
          case id = "film\\"id"
          case reader
        }
      }
      """,
      expandsTo: """
        extension Film: JSONReadable, JSONWritable {
          init(from jsonReader: inout JSONReader) throws {
            var id: Int?
            var reader: String?
            try jsonReader.beginObject()
            while try jsonReader.nextMember() {
              if jsonReader.isAt("film\\"id") {
                try jsonReader.read(into: &id)
              } else if jsonReader.isAt("reader") {
                try jsonReader.read(into: &reader)
              } else {
                try jsonReader.skip()
              }
            }
            self.id = try jsonReader.require(id, "film\\"id")
            self.reader = try jsonReader.require(reader, "reader")
          }

          func write(to writer: inout JSONWriter) throws {
            writer.beginObject()
            try writer.write(id, as: "film\\"id")
            try writer.write(reader, as: "reader")
            writer.endObject()
          }
        }
        """)
  }

  private static let shape = """
    @JSONCodable
    enum Shape {
      case point
      case named(String, size: Int?)
    }
    """
  private static let shapeExpansion = """
    extension Shape: JSONReadable, JSONWritable {
      init(from reader: inout JSONReader) throws {
        var value: Self?
        try reader.beginObject()
        while try reader.nextMember() {
          if reader.isAt("point") {
            guard value == nil else {
              throw reader.error("Two members are cases of the enum")
            }
            try reader.beginObject()
            while try reader.nextMember() {
              try reader.skip()
            }
            value = .point
          } else if reader.isAt("named") {
            guard value == nil else {
              throw reader.error("Two members are cases of the enum")
            }
            var _0: String?
            var size: Int?
            try reader.beginObject()
            while try reader.nextMember() {
              if reader.isAt("_0") {
                try reader.read(into: &_0)
              } else if reader.isAt("size") {
                try reader.readIfPresent(into: &size)
              } else {
                try reader.skip()
              }
            }
            value = .named(try reader.require(_0, "_0"), size: size)
          } else {
            try reader.skip()
          }
        }
        guard let value else {
          throw reader.objectError("No member is a case of the enum")
        }
        self = value
      }

      func write(to writer: inout JSONWriter) throws {
        writer.beginObject()
        switch self {
        case .point:
          writer.beginMember("point")
          writer.beginObject()
          writer.endObject()
        case .named(let _0, let size):
          writer.beginMember("named")
          writer.beginObject()
          try writer.write(_0, as: "_0")
          try writer.write(size, as: "size")
          writer.endObject()
        }
        writer.endObject()
      }
    }
    """

  @Test("The expansion reads and writes an enum with associated values as an object with one member")
  func enumeration() {
    expect(Self.shape, expandsTo: Self.shapeExpansion)
  }

  @Test("The expansion for an enum with raw values adds only the conformances")
  func rawValues() {
    let expansion = "extension Suit: JSONReadable, JSONWritable {\n}"
    expect("@JSONCodable\nenum Suit: String, Codable {\n  case hearts, spades\n}", expandsTo: expansion)
    expect("@JSONCodable\nenum Suit: Mark {\n  case hearts = 1\n}", expandsTo: expansion)
  }

  @Test("The expansion for a type in a public extension has public members, unless the type has an access level")
  func extensions() {
    for (own, access) in [("", "public "), ("internal ", "")] {
      expect(
        "public extension Models {\n  @JSONCodable\n  \(own)struct Film {\n  }\n}",
        expandsTo: """
          extension Models.Film: JSONWritable {
            \(access)func write(to writer: inout JSONWriter) throws {
              writer.beginObject()
              writer.endObject()
            }
          }
          """, conformances: ["JSONWritable"])
    }
  }

  @Test("The expansion adds no existing conformance, and requires type parameters to conform")
  func conformances() {
    expect(
      "@JSONCodable\nstruct Page<Item: Codable> {\n  var items: [Item]\n}",
      expandsTo: """
        extension Page: JSONWritable where Item: JSONWritable {
          func write(to writer: inout JSONWriter) throws {
            writer.beginObject()
            try writer.write(items, as: "items")
            writer.endObject()
          }
        }
        """, conformances: ["JSONWritable"])
    expect("@JSONCodable\nstruct Film {\n  var id: Int\n}", expandsTo: "", conformances: [])
  }
}
