import Foundation

@testable import ApusJSON

/// A model decoded and encoded by `Codable`, with which ``Film`` must agree.
struct CodableFilm: Codable, Equatable {
  struct Person: Codable, Equatable {
    var name: String
    var born: Int16?
  }

  var id: Int
  var title: String
  var rating: Double
  var isNew: Bool
  var suit: Suit
  var cast: [Person]
  var byRole: [String: [Int]]
  var released: Date?
  var poster: URL?
  var extra: JSONValue?
  var shapes: [Shape]
}

/// A model that reads and writes itself.
struct Film: Codable, Equatable, JSONReadable, JSONWritable {
  struct Person: Codable, Equatable, JSONReadable, JSONWritable {
    var name: String
    var born: Int16?

    init(from reader: inout JSONReader) throws {
      var name: String?
      var born: Int16?
      try reader.beginObject()
      while try reader.nextMember() {
        if reader.isAt("name") {
          try reader.read(into: &name)
        } else if reader.isAt("born") {
          try reader.readIfPresent(into: &born)
        } else {
          try reader.skip()
        }
      }
      self.name = try reader.require(name, "name")
      self.born = born
    }

    func write(to writer: inout JSONWriter) throws {
      writer.beginObject()
      try writer.write(born, as: "born")
      try writer.write(name, as: "name")
      writer.endObject()
    }
  }

  var id: Int
  var title: String
  var rating: Double
  var isNew: Bool
  var suit: Suit
  var cast: [Person]
  var byRole: [String: [Int]]
  var released: Date?
  var poster: URL?
  var extra: JSONValue?
  /// Values of a type that cannot read itself.
  var shapes: [Shape]

  init(from reader: inout JSONReader) throws {
    var (id, title, rating, isNew, suit): (Int?, String?, Double?, Bool?, Suit?)
    var (cast, byRole, shapes): ([Person]?, [String: [Int]]?, [Shape]?)
    try reader.beginObject()
    while try reader.nextMember() {
      if reader.isAt("id") {
        try reader.read(into: &id)
      } else if reader.isAt("title") {
        try reader.read(into: &title)
      } else if reader.isAt("rating") {
        try reader.read(into: &rating)
      } else if reader.isAt("isNew") {
        try reader.read(into: &isNew)
      } else if reader.isAt("suit") {
        try reader.read(into: &suit)
      } else if reader.isAt("cast") {
        try reader.read(into: &cast)
      } else if reader.isAt("byRole") {
        try reader.read(into: &byRole)
      } else if reader.isAt("released") {
        try reader.readIfPresent(into: &released)
      } else if reader.isAt("poster") {
        try reader.readIfPresent(into: &poster)
      } else if reader.isAt("extra") {
        try reader.readIfPresent(into: &extra)
      } else if reader.isAt("shapes") {
        try reader.read(into: &shapes)
      } else {
        try reader.skip()
      }
    }
    self.id = try reader.require(id, "id")
    self.title = try reader.require(title, "title")
    self.rating = try reader.require(rating, "rating")
    self.isNew = try reader.require(isNew, "isNew")
    self.suit = try reader.require(suit, "suit")
    self.cast = try reader.require(cast, "cast")
    self.byRole = try reader.require(byRole, "byRole")
    self.shapes = try reader.require(shapes, "shapes")
  }

  func write(to writer: inout JSONWriter) throws {
    writer.beginObject()
    try writer.write(byRole, as: "byRole")
    try writer.write(cast, as: "cast")
    try writer.write(extra, as: "extra")
    try writer.write(id, as: "id")
    try writer.write(isNew, as: "isNew")
    try writer.write(poster, as: "poster")
    try writer.write(rating, as: "rating")
    try writer.write(released, as: "released")
    try writer.write(shapes, as: "shapes")
    try writer.write(suit, as: "suit")
    try writer.write(title, as: "title")
    writer.endObject()
  }
}

extension Suit: JSONReadable, JSONWritable {}

extension CodableFilm {
  static var sample: CodableFilm {
    CodableFilm(
      id: 7, title: "Amélie \"A\"", rating: 8.25, isNew: false, suit: .hearts,
      cast: [Person(name: "Audrey", born: 1976), Person(name: "Mathieu")],
      byRole: ["lead": [1], "none": [], "a_b": [2, 3]], released: Date(timeIntervalSince1970: 988_156_800.5),
      poster: URL(string: "https://example.com/a?b=c"), extra: ["a": [1, .null, "x"]],
      shapes: [.circle(radius: 2), .point])
  }
}
