import ApusJSON
import Foundation
import Samples

extension Row {
  static var decoding: [Row] {
    [
      Row("object", "object, 152 B", .decode(Person.self, from: bytes(Person.text))),
      Row("page", "array of 100 objects, 16 KB", .decode([Person].self, from: bytes(Person.array(100)))),
      Row("large", "array of 6,500 objects, 1 MB", .decode([Person].self, from: bytes(Person.array(6500)))),
      Row(
        "shuffled", "100 objects, members in random order",
        .decode([Person].self, from: bytes(Unusual.shuffled(100)))),
      Row("pretty", "100 objects, pretty-printed", .decode([Person].self, from: try Unusual.pretty(100))),
      Row(
        "escapes", "100 objects, escapes and non-ASCII text", .decode([Note].self, from: bytes(Note.array(100)))),
      Row("doubles", "2,000 doubles of 17 digits", .decode([Double].self, from: try json(Numbers.doubles))),
      Row("integers", "2,000 integers", .decode([Int].self, from: try json(Numbers.integers))),
      Row(
        "coordinates", "1,000 coordinates, `[[Double]]`",
        .decode([[Double]].self, from: try json(Numbers.coordinates))),
      Row(
        "snake", "100 objects, keys in snake case",
        .decode([Order].self, from: bytes(Order.array(100)), .snakeCase, by: snakeCase)),
      Row(
        "dates", "100 objects with 2 dates, ISO 8601",
        .decode([Event].self, from: bytes(Event.array(100)), by: iso8601)),
      Row("wide", "object with 4,000 members, read in random order", .decode(Wide.self, from: bytes(Wide.text))),
      Row("dictionary", "dictionary of 4,000 members", .decode([String: Int].self, from: bytes(Wide.text))),
      Row("read-object", "object that reads itself, 152 B", .decode(DirectPerson.self, from: bytes(Person.text))),
      Row("read-page", "100 of them, 16 KB", .decode([DirectPerson].self, from: bytes(Person.array(100)))),
      Row("read-large", "6,500 of them, 1 MB", .decode([DirectPerson].self, from: bytes(Person.array(6500)))),
      Row("value", "`JSONValue`, 16 KB", .decode(JSONValue.self, from: bytes(Person.array(100)))),
      Row("parsed", "`JSONValue`, 16 KB, beside `JSONSerialization`", .parse(bytes(Person.array(100)))),
    ]
  }

  static var encoding: [Row] {
    [
      Row("encode-object", "object, 152 B", .encode(try people(1)[0])),
      Row("encode-page", "array of 100 objects, 16 KB", .encode(try people(100))),
      Row("encode-large", "array of 6,500 objects, 1 MB", .encode(try people(6500))),
      Row(
        "encode-escapes", "100 objects, escapes and non-ASCII text",
        .encode(try JSONDecoder().decode([Note].self, from: bytes(Note.array(100))))),
      Row("encode-doubles", "2,000 doubles of 17 digits", .encode(Numbers.doubles)),
      Row("write-object", "object that writes itself, 152 B", .encode(try directPeople(1)[0])),
      Row("write-page", "100 of them, 16 KB", .encode(try directPeople(100))),
      Row("write-large", "6,500 of them, 1 MB", .encode(try directPeople(6500))),
      Row("encode-dictionary", "dictionary of 4,000 members", .encode(Numbers.members)),
    ]
  }

  private static func bytes(_ text: String) -> Data { Data(text.utf8) }

  private static func json(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }

  private static func people(_ count: Int) throws -> [Person] {
    try JSONDecoder().decode([Person].self, from: bytes(Person.array(count)))
  }

  private static func directPeople(_ count: Int) throws -> [DirectPerson] {
    try JSONDecoder().decode([DirectPerson].self, from: bytes(Person.array(count)))
  }

  private static var snakeCase: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  private static var iso8601: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }
}
