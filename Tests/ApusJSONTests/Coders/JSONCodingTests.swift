import Testing

@testable import ApusJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("JSON coding") struct JSONCodingTests {
  private struct Event: Codable, Equatable {
    var startDate: Date
    var rawBytes = Data([1, 2, 255])
  }

  private let instant = Date(timeIntervalSince1970: 1_795_253_400)

  private func object(_ coding: JSONCoding) throws -> JSONValue {
    try JSONCoding.default.decode(JSONValue.self, from: coding.encode(Event(startDate: instant)))
  }

  @Test("The default coding leaves keys unchanged, and encodes dates in ISO 8601 and bytes in Base64")
  func standard() throws {
    #expect(
      try object(.default) == .object(["startDate": .string("2026-11-21T09:30:00Z"), "rawBytes": .string("AQL/")]))
    #expect(JSONCoding.default.keys == .unchanged && JSONCoding.default.bytes == .base64)
  }

  @Test(
    "Encoded dates have milliseconds unless they are zero or the coding omits them",
    arguments: [
      (0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"), (0.5, "1970-01-01T00:00:00.500Z", "1970-01-01T00:00:00Z"),
      (1_795_253_400.25, "2026-11-21T09:30:00.250Z", "2026-11-21T09:30:00Z"),
      (1_795_253_400.007, "2026-11-21T09:30:00.007Z", "2026-11-21T09:30:00Z"),
      (1_795_253_400.0001, "2026-11-21T09:30:00Z", "2026-11-21T09:30:00Z"),
      (1_795_253_400.9997, "2026-11-21T09:30:01Z", "2026-11-21T09:30:00Z"),
      (-0.25, "1969-12-31T23:59:59.750Z", "1969-12-31T23:59:59Z"),
      (1_709_164_800, "2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
      (253_402_300_799, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ] as [(Double, String, String)])
  func milliseconds(seconds: Double, text: String, whole: String) throws {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(try JSONCoding.default.encode([date]) == Data("[\"\(text)\"]".utf8))
    #expect(try JSONCoding(dates: .iso8601WholeSeconds).encode([date]) == Data("[\"\(whole)\"]".utf8))
    let read = try JSONCoding(dates: .iso8601WholeSeconds).decode([Date].self, from: Data("[\"\(text)\"]".utf8))
    #expect(abs(read[0].timeIntervalSince1970 - seconds) < 0.001)
  }

  @Test(
    "Dates outside the years 0 to 9999 cannot be encoded",
    arguments: [-62_167_219_201, 253_402_300_800, 1e300, .infinity, .nan])
  func unwritable(seconds: Double) {
    let error = #expect(throws: EncodingError.self) {
      try JSONCoding.default.encode([Date(timeIntervalSince1970: seconds)])
    }
    #expect(error.map { String(reflecting: $0).isEmpty } == false)
  }

  @Test("Keys can be in snake case, and dates and bytes can be numbers")
  func others() throws {
    let bytes = JSONValue.array([.number(1), .number(2), .number(255)])
    let seconds = JSONCoding(keys: .snakeCase, dates: .secondsSince1970, bytes: .numbers)
    #expect(try object(seconds) == .object(["start_date": .number(1_795_253_400), "raw_bytes": bytes]))
    let milliseconds = JSONCoding(dates: .millisecondsSince1970)
    #expect(try object(milliseconds)["startDate"] == .number(1_795_253_400_000))
  }

  @Test("Dates can be coded by custom functions")
  func custom() throws {
    let coding = JSONCoding(
      dates: .custom(encode: { "d\(Int($0.timeIntervalSince1970))" }) { text in
        guard let seconds = Double(text.dropFirst()) else { throw ISO8601.Malformed() }
        return Date(timeIntervalSince1970: seconds)
      })
    #expect(try object(coding)["startDate"] == .string("d1795253400"))
    #expect(try coding.decode([Date].self, from: Data(#"["d7"]"#.utf8)) == [Date(timeIntervalSince1970: 7)])
    let error = #expect(throws: DecodingError.self) {
      try coding.decode([Date].self, from: Data(#"["dx"]"#.utf8))
    }
    guard case .dataCorrupted(let context)? = error else { return #expect(Bool(false)) }
    #expect(context.codingPath.map(\.intValue) == [0])
    #expect((context.underlyingError as? JSONLocation)?.cause is ISO8601.Malformed)
  }

  @Test(
    "Every coding decodes the values that it encoded",
    arguments: [
      JSONCoding.default, .snakeCase, JSONCoding(dates: .secondsSince1970, bytes: .numbers),
      JSONCoding(dates: .millisecondsSince1970), JSONCoding(dates: .iso8601WholeSeconds),
    ])
  func roundTrip(coding: JSONCoding) throws {
    var event = Event(startDate: instant)
    #expect(try coding.decode(Event.self, from: coding.encode(event)) == event)
    if case .iso8601WholeSeconds = coding.dates { return }
    event.startDate += 0.5
    #expect(try coding.decode(Event.self, from: coding.encode(event)) == event)
  }

  @Test(
    "ISO 8601 dates are decoded with and without fractions, with any offset",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-11-21T09:30:00Z", 1_795_253_400), ("2026-11-21T09:30:00.5Z", 1_795_253_400.5),
      ("2026-11-21T11:30:00+02:00", 1_795_253_400), ("2026-11-21T11:30:00+0200", 1_795_253_400),
      ("2026-11-21T11:30:00+02", 1_795_253_400), ("2026-11-21T05:00:00.25-04:30", 1_795_253_400.25),
      ("2026-11-21t09:30:00z", 1_795_253_400), ("2026-11-21T09:30:00,125Z", 1_795_253_400.125),
      ("2024-02-29T00:00:00Z", 1_709_164_800), ("2000-02-29T12:00:00Z", 951_825_600), ("1969-12-31T23:59:59Z", -1),
      ("2016-12-31T23:59:60Z", 1_483_228_800), ("0001-01-01T00:00:00Z", -62_135_596_800),
      ("9999-12-31T23:59:59Z", 253_402_300_799), ("2026-11-21T09:30:00.000000000000000000001Z", 1_795_253_400),
      ("0000-03-01T00:00:00Z", -62_162_035_200), ("0000-01-01T00:00:00Z", -62_167_219_200),
    ] as [(String, Double)])
  func iso8601(text: String, seconds: Double) throws {
    #expect(try ISO8601.date(text).timeIntervalSince1970 == seconds)
    #expect(try JSONCoding.default.decode(Date.self, from: Data("\"\(text)\"".utf8)) == ISO8601.date(text))
  }

  @Test(
    "Malformed ISO 8601 dates are refused",
    arguments: [
      "", "2026", "2026-11-21", "2026-11-21T09:30:00", "2026-11-21T09:30:00Zx", "2026-11-21 09:30:00Z",
      "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00",
      "2026-01-01T00:00:00+02:60", "2026-01-01T00:00:00+2", "2026-01-01T00:00:00+02:", "-2026-01-01T00:00:00Z",
      "+2026-01-01T00:00:00Z", " 2026-01-01T00:00:00Z", "２026-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "now",
      "2026-01-01T0:00:00Z", "2026-01-01T00:00:00+",
    ])
  func malformedISO8601(text: String) {
    #expect(throws: ISO8601.Malformed.self) { try ISO8601.date(text) }
  }

  @Test("Dates agree with Foundation's in every month of many years")
  func calendar() throws {
    for year in stride(from: 1583, through: 2500, by: 7) {
      for month in 1...12 {
        for day in [1, 28] {
          let pad = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
          let text = "\(year)-\(pad(month))-\(pad(day))T01:02:03Z"
          #expect(try ISO8601.date(text) == Date.ISO8601FormatStyle().parse(text))
          #expect(try ISO8601.text(ISO8601.date(text), withMilliseconds: true) == text)
        }
      }
    }
  }
}
