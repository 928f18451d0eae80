import Testing

@testable import ApusCore

/// Values that use every kind of encoding container.
@Suite("The query encoder") struct QueryEncoderTests {
  private enum Key: String, CodingKey { case name, list, nested, none }

  private struct Nested: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encodeNil(forKey: .none)
      var inner = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
      try inner.encode("n", forKey: .name)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(1)
      try list.encodeNil()
      var pairs = list.nestedUnkeyedContainer()
      try pairs.encode(2)
      var keyed = list.nestedContainer(keyedBy: Key.self)
      try keyed.encode(true, forKey: .name)
      try "up".encode(to: list.superEncoder())
    }
  }

  private struct Super: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try ["a": 1].encode(to: container.superEncoder())
      try 5.encode(to: container.superEncoder(forKey: .name))
      #expect(encoder.codingPath.map(\.stringValue) == ["v"])
      #expect(encoder.userInfo.isEmpty)
    }
  }

  private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  @Test("Nested containers are encoded with their names and indices")
  func nested() throws {
    let items = try (["v": Nested()] as Query).items(style: QueryStyle(arrays: .indexed, nils: .empty))
    #expect(
      items.map { "\($0.name)=\($0.value)" } == [
        "v[none]=", "v[nested][name]=n", "v[list][0]=1", "v[list][1]=", "v[list][2][0]=2", "v[list][3][name]=true",
        "v[list][4]=up",
      ])
  }

  @Test("A super encoder writes next to the members, or under its key")
  func supers() throws {
    let items = try (["v": Super()] as Query).items(style: .default)
    #expect(items.map { "\($0.name)=\($0.value)" } == ["v[a]=1", "v[name]=5"])
  }

  @Test("A query value that encodes nil is omitted")
  func nothing() throws {
    #expect(try (["v": Nothing()] as Query).items(style: .default).isEmpty)
    #expect(try (["v": Nothing()] as Query).items(style: QueryStyle(nils: .null)).map(\.value) == ["null"])
  }

  @Test("An error thrown while a query value is encoded reaches the caller")
  func throwing() async {
    struct Refuses: Encodable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(1, .init(codingPath: encoder.codingPath, debugDescription: "secret"))
      }
    }
    let error = await failure { try await target("/x", query: ["v": ["w": Refuses()]]) }
    #expect(error?.code == .encoding)
    #expect(error?.codingPath == "v.w")
    #expect(error.map { "\($0)".contains("secret") } == false)
  }

  @Test("Coding keys of queries have a name or an index")
  func keys() {
    #expect(QueryKey(stringValue: "a").isIndex == false)
    #expect(QueryKey(intValue: 3).isIndex)
    #expect(QueryKey(index: 3).stringValue == "3")
  }
}
