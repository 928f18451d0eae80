public import ApusJSON

/// A ``Person`` that reads and writes itself, as the macro `@JSONCodable` would write it.
public struct DirectPerson: Codable, Sendable, Equatable {
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
  public var address: DirectAddress
  /// A small number.
  public var visits: Int
}

/// The object inside a ``DirectPerson``.
public struct DirectAddress: Codable, Sendable, Equatable {
  /// A text.
  public var city: String
  /// A text.
  public var zip: String
}

extension DirectPerson: JSONReadable, JSONWritable {
  /// Reads the members.
  public init(from reader: inout JSONReader) throws {
    var (id, name, isActive, score): (Int?, String?, Bool?, Double?)
    var (tags, nickname, address, visits): ([String]?, String?, DirectAddress?, Int?)
    try reader.beginObject()
    while try reader.nextMember() {
      if reader.isAt("id") {
        try reader.read(into: &id)
      } else if reader.isAt("name") {
        try reader.read(into: &name)
      } else if reader.isAt("isActive") {
        try reader.read(into: &isActive)
      } else if reader.isAt("score") {
        try reader.read(into: &score)
      } else if reader.isAt("tags") {
        try reader.read(into: &tags)
      } else if reader.isAt("nickname") {
        try reader.readIfPresent(into: &nickname)
      } else if reader.isAt("address") {
        try reader.read(into: &address)
      } else if reader.isAt("visits") {
        try reader.read(into: &visits)
      } else {
        try reader.skip()
      }
    }
    self.id = try reader.require(id, "id")
    self.name = try reader.require(name, "name")
    self.isActive = try reader.require(isActive, "isActive")
    self.score = try reader.require(score, "score")
    self.tags = try reader.require(tags, "tags")
    self.nickname = nickname
    self.address = try reader.require(address, "address")
    self.visits = try reader.require(visits, "visits")
  }

  /// Writes the members in the order of their names, as the encoder does.
  public func write(to writer: inout JSONWriter) throws {
    writer.beginObject()
    try writer.write(address, as: "address")
    try writer.write(id, as: "id")
    try writer.write(isActive, as: "isActive")
    try writer.write(name, as: "name")
    try writer.write(nickname, as: "nickname")
    try writer.write(score, as: "score")
    try writer.write(tags, as: "tags")
    try writer.write(visits, as: "visits")
    writer.endObject()
  }
}

extension DirectAddress: JSONReadable, JSONWritable {
  /// Reads the members.
  public init(from reader: inout JSONReader) throws {
    var (city, zip): (String?, String?)
    try reader.beginObject()
    while try reader.nextMember() {
      if reader.isAt("city") {
        try reader.read(into: &city)
      } else if reader.isAt("zip") {
        try reader.read(into: &zip)
      } else {
        try reader.skip()
      }
    }
    self.city = try reader.require(city, "city")
    self.zip = try reader.require(zip, "zip")
  }

  /// Writes the members.
  public func write(to writer: inout JSONWriter) throws {
    writer.beginObject()
    try writer.write(city, as: "city")
    try writer.write(zip, as: "zip")
    writer.endObject()
  }
}
