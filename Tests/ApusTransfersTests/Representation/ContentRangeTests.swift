import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("Content-Range and validators")
struct ContentRangeTests {
  @Test(
    "Valid byte ranges are parsed",
    arguments: [
      ("bytes 0-499/1234", ContentRange.part(first: 0, last: 499, total: 1234)),
      ("Bytes 500-1233/1234", .part(first: 500, last: 1233, total: 1234)),
      ("bytes 7-7/*", .part(first: 7, last: 7, total: nil)), ("bytes */1234", .unsatisfied(total: 1234)),
      ("bytes */0", .unsatisfied(total: 0)),
      ("bytes 0-9223372036854775805/9223372036854775807", .part(first: 0, last: .max - 2, total: .max)),
    ])
  func ranges(_ text: String, _ range: ContentRange) {
    #expect(ContentRange(text) == range)
  }

  @Test(
    "Invalid values are rejected",
    arguments: [
      "", "bytes", "bytes ", "bytes=0-4/5", "items 0-4/5", "bytes 0-4", "bytes 0-/5", "bytes -4/5", "bytes 4-0/5",
      "bytes 0-5/5", "bytes 0-4/4/4", "bytes */*", "bytes 0-4/x", "bytes +0-4/5", "bytes 0--4/5", "bytes 0-4/-5",
      "bytes 0-9223372036854775808/*", "bytes 0-9223372036854775807/*", "bytes 0-4/99999999999999999999",
    ])
  func malformed(_ text: String) {
    #expect(ContentRange(text) == nil)
  }

  private func fields(_ pairs: KeyValuePairs<HTTPField.Name, String>) -> HTTPFields {
    HTTPFields(pairs.map { HTTPField(name: $0.key, value: $0.value) })
  }

  @Test("A strong entity tag is preferred to a date")
  func tag() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(Validator(fields([.eTag: #""a""#, .lastModified: date, .date: date])) == .entityTag(#""a""#))
    #expect(Validator(fields([.eTag: "\"\""])) == .entityTag("\"\""))
  }

  @Test(
    "Weak and malformed entity tags are not strong validators",
    arguments: [
      #"W/"a""#, "a", #""a"#, #"a""#, "\"", "", #""a" "b""#, "\"a b\"", "\"\(String(repeating: "a", count: 1024))\"",
    ])
  func weakTag(_ tag: String) {
    #expect(Validator(fields([.eTag: tag])) == nil)
  }

  @Test(
    "A modification date is strong if it is 60 seconds older than the response",
    arguments: [("08:48:37", true), ("08:48:38", false), ("08:49:37", false), ("08:50:00", false)])
  func date(_ time: String, _ isStrong: Bool) {
    let changed = "Sun, 06 Nov 1994 \(time) GMT"
    let fields = fields([.lastModified: changed, .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
    #expect(Validator(fields) == (isStrong ? .lastModified(changed) : nil))
  }

  @Test("A modification date is no validator without the date of the response, or if it is malformed")
  func noDate() {
    let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(Validator(fields([.lastModified: changed])) == nil)
    #expect(Validator(fields([.lastModified: changed, .date: "today"])) == nil)
    #expect(Validator(fields([.lastModified: "long ago", .date: changed])) == nil)
  }

  @Test("A part must repeat the entity tag, but may omit the modification date")
  func confirmed() {
    let tag = Validator.entityTag(#""a""#)
    #expect(tag.isConfirmed(by: fields([.eTag: #""a""#])))
    for other in [#""b""#, #"W/"a""#, ""] { #expect(!tag.isConfirmed(by: fields([.eTag: other]))) }
    #expect(!tag.isConfirmed(by: [:]) && !tag.isContradicted(by: [:]))
    #expect(tag.isContradicted(by: fields([.eTag: #""b""#])))
    let date = Validator.lastModified("Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(date.isConfirmed(by: [:]) && !date.isConfirmed(by: fields([.lastModified: "today"])))
    #expect(date.isContradicted(by: fields([.lastModified: "today"])))
  }

  @Test(
    "Any content coding except identity makes a representation coded",
    arguments: [("gzip", true), ("identity", false), ("Identity , ", false), ("identity, br", true), ("", false)])
  func coding(_ value: String, _ isCoded: Bool) {
    #expect(Representation.isCoded(fields([.contentEncoding: value])) == isCoded)
  }
}
