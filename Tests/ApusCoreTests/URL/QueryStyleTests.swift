import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Query styles") struct QueryStyleTests {
  private func written(_ query: Query, _ style: QueryStyle = .default) throws -> [String] {
    try query.items(style: style).map { "\($0.name)=\($0.value)" }
  }

  private enum Genre: String, Encodable, CodingKeyRepresentable { case drama, war }
  private struct Filter: Encodable {
    var year = 1990
    var genres = [Genre.drama, .war]
    var range = Range()
    var note: String?
    struct Range: Encodable {
      var low = 1.5
      var open: Bool?
    }
  }

  @Test("Arrays in queries are written in the style's notation")
  func arrays() throws {
    let query: Query = ["tag": ["a", "b"]]
    #expect(try written(query) == ["tag=a", "tag=b"])
    #expect(try written(query, QueryStyle(arrays: .brackets)) == ["tag[]=a", "tag[]=b"])
    #expect(try written(query, QueryStyle(arrays: .indexed)) == ["tag[0]=a", "tag[1]=b"])
    #expect(try written(query, QueryStyle(arrays: .joined(","))) == ["tag=a,b"])
    #expect(try written(query, QueryStyle(arrays: .joined("; "))) == ["tag=a; b"])
  }

  @Test(
    "An empty array is omitted in every query style",
    arguments: [QueryStyle.Arrays.repeated, .brackets, .indexed, .joined(",")])
  func emptyArray(arrays: QueryStyle.Arrays) throws {
    #expect(try written(["tag": [Int](), "x": 1], QueryStyle(arrays: arrays)) == ["x=1"])
  }

  @Test("Lists of enums, wrapped values and sets are joined, too")
  func joinedKinds() throws {
    struct ID: Encodable {
      let number: Int
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
      }
    }
    let style = QueryStyle(arrays: .joined("|"))
    #expect(try written(["g": [Genre.drama, .war]], style) == ["g=drama|war"])
    #expect(try written(["id": [ID(number: 1), ID(number: 2)]], style) == ["id=1|2"])
    #expect(try written(["n": ContiguousArray([1, 2])], style) == ["n=1|2"])
    #expect(try written(["n": Set([3, 1, 2])], style) == ["n=1|2|3"])
    #expect(try written(Query(Filter()), style) == ["year=1990", "genres=drama|war", "range[low]=1.5"])
    #expect(try written(["a": [1], "a": [2, 3]], style) == ["a=1", "a=2|3"])
  }

  @Test("Nils in a joined list are omitted or written in the style's notation")
  func joinedNils() throws {
    let query: Query = ["n": [nil, 1, nil, 2]]
    #expect(try written(query, QueryStyle(arrays: .joined(","))) == ["n=1,2"])
    #expect(try written(query, QueryStyle(arrays: .joined(","), nils: .empty)) == ["n=,1,,2"])
    #expect(try written(query, QueryStyle(arrays: .joined(","), nils: .null)) == ["n=null,1,null,2"])
  }

  @Test("A list of composite values cannot be joined, and the error contains its name")
  func joinedNested() throws {
    struct Pair: Encodable { var a = 1 }
    let queries: [(Query, String)] = [
      (["p": [Pair()]], "p"), (["m": [[1, 2], [3]]], "m"), (["f": ["deep": [["k": 1]]]], "f[deep]"),
    ]
    for (query, name) in queries {
      let error = #expect(throws: QueryEncodingError.self) { try written(query, QueryStyle(arrays: .joined(","))) }
      #expect(error?.name == name)
      #expect(error?.reason == "is a list of values that are not single texts")
    }
  }

  @Test("Nested keys are written in brackets or after dots")
  func nesting() throws {
    let query: Query = ["filter": Filter()]
    #expect(
      try written(query) == [
        "filter[year]=1990", "filter[genres]=drama", "filter[genres]=war", "filter[range][low]=1.5",
      ])
    #expect(
      try written(query, QueryStyle(arrays: .indexed, nesting: .dots)) == [
        "filter.year=1990", "filter.genres[0]=drama", "filter.genres[1]=war", "filter.range.low=1.5",
      ])
  }

  @Test("An Encodable struct becomes one parameter for each property")
  func members() throws {
    #expect(try written(Query(Filter())) == ["year=1990", "genres=drama", "genres=war", "range[low]=1.5"])
  }

  @Test("Lists of structs have indices in query styles with indices")
  func listOfStructs() throws {
    struct Item: Encodable { let id: Int }
    let query: Query = ["i": [Item(id: 1), Item(id: 2)]]
    #expect(try written(query, QueryStyle(arrays: .indexed)) == ["i[0][id]=1", "i[1][id]=2"])
    #expect(try written(query, QueryStyle(arrays: .brackets)) == ["i[][id]=1", "i[][id]=2"])
    #expect(
      try written(["m": [[1], [2, 3]]], QueryStyle(arrays: .indexed)) == ["m[0][0]=1", "m[1][0]=2", "m[1][1]=3"])
  }

  @Test("Nil properties of every type are written in the style's notation")
  func nils() throws {
    struct Everything: Encodable {
      var text: String?
      var int: Int?
      var bool: Bool?
      var double: Double?
      var float: Float?
      var small: Int8?
      var int16: Int16?
      var int32: Int32?
      var int64: Int64?
      var uint: UInt?
      var uint8: UInt8?
      var uint16: UInt16?
      var uint32: UInt32?
      var unsigned: UInt64?
      var date: Date?
      var list: [Int]?
      var nested: Filter.Range?
      var kind: Genre?
    }
    let names = [
      "text", "int", "bool", "double", "float", "small", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32",
      "unsigned", "date", "list", "nested", "kind",
    ]
    #expect(try written(Query(Everything())) == [])
    #expect(try written(Query(Everything()), QueryStyle(nils: .empty)) == names.map { $0 + "=" })
    #expect(try written(Query(Everything()), QueryStyle(nils: .null)) == names.map { $0 + "=null" })
    #expect(try written(["x": nil], QueryStyle(nils: .null)) == ["x=null"])
    let some = Everything(
      text: "t", int: 1, bool: true, double: 2.5, small: -1, int16: .min, uint32: .max, list: [1], kind: .war)
    #expect(
      try written(Query(some)) == [
        "text=t", "int=1", "bool=true", "double=2.5", "small=-1", "int16=-32768", "uint32=4294967295", "list=1",
        "kind=war",
      ])
  }

  @Test("Booleans in queries are written as words or digits")
  func bools() throws {
    #expect(try written(["a": true, "b": [false]]) == ["a=true", "b=false"])
    #expect(try written(["a": true, "b": [false]], QueryStyle(bools: .digits)) == ["a=1", "b=0"])
  }

  @Test("Dates in queries are written in the style's format")
  func dates() throws {
    let date = Date(timeIntervalSince1970: 1_795_253_400.25)
    #expect(try written(["d": date]) == ["d=2026-11-21T09:30:00Z"])
    #expect(try written(["d": date], QueryStyle(dates: .secondsSince1970)) == ["d=1795253400.25"])
    #expect(try written(["d": date], QueryStyle(dates: .millisecondsSince1970)) == ["d=1795253400250"])
    #expect(try written(["d": date], QueryStyle(dates: .custom { _ in "then" })) == ["d=then"])
    let whole = Date(timeIntervalSince1970: -1)
    #expect(try written(["d": whole], QueryStyle(dates: .secondsSince1970)) == ["d=-1"])
    #expect(throws: QueryEncodingError.self) { try written(["d": Date.distantFuture.addingTimeInterval(1e300)]) }
    #expect(try written(["d": Date.distantFuture], QueryStyle(dates: .secondsSince1970)) == ["d=64092211200"])
  }

  @Test("Dictionaries of any key type are written in queries sorted by name")
  func dictionaries() throws {
    #expect(try written(Query(["c": 3, "a": 1, "b": 2])) == ["a=1", "b=2", "c=3"])
    #expect(try written(["f": [2: "y", 1: "x"]]) == ["f[1]=x", "f[2]=y"])
    #expect(try written(["f": [Genre.war: 1, .drama: 2]]) == ["f[drama]=2", "f[war]=1"])
    #expect(try written(["f": ["a": nil, "b": 1]], QueryStyle(nils: .null)) == ["f[a]=null", "f[b]=1"])
    #expect(try written(["f": [Double: Int]()]) == [])
  }

  @Test("A property whose coding key has a number is written by name, not as an index")
  func numberedKeys() throws {
    struct Numbered: Encodable {
      enum CodingKeys: Int, CodingKey {
        case width = 1
        case height
      }
      var width = 10
      var height = 20
    }
    #expect(try written(["size": Numbered()]) == ["size[width]=10", "size[height]=20"])
  }

  @Test("Equal sets are written identically in queries")
  func sets() throws {
    let words = (0..<20).map { "w\($0)" }
    let first = try written(["s": Set(words)])
    #expect(try written(["s": Set(words.reversed())]) == first)
    #expect(Set(first) == Set(words.map { "s=\($0)" }))
  }

  @Test("A long list of custom values is written to a query in linear time")
  func longList() throws {
    let items = try Query(["g": Array(repeating: Genre.war, count: 50_000)]).items(style: .default)
    #expect(items.count == 50_000)
  }
}
