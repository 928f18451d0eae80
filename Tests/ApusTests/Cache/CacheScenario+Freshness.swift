import Apus
import ApusTestServer

extension CacheScenario {
  static let all = freshness + validation + forms + changes + stale

  /// Date fields are those of a server whose clock agrees with the cache's: midnight, January 1st, 2026.
  private static let midnight = "Thu, 01 Jan 2026 00:00:00 GMT"
  private static let aMinuteLater = "Thu, 01 Jan 2026 00:01:00 GMT"

  private static let freshness = [
    Self(
      "max-age", .sent(.ann("max-age=60"), "fwd=uri-miss; stored"), .hit("ttl=50", after: 10), .hit("ttl=1", after: 49),
      .sent(.ann("max-age=60", text: "Bob"), after: 1, "fwd=stale; stored").gives("Bob"),
      .hit().gives("Bob")),
    Self(
      "Age of other caches", .sent(.ann("max-age=60", ["Age": "50"])), .hit("ttl=5", after: 5).receiving("Age", "55"),
      .sent(.ann("max-age=60"), after: 5)),
    Self(
      "Expires",
      .sent(.ann(nil, ["Date": .init(stringLiteral: midnight), "Expires": .init(stringLiteral: aMinuteLater)])),
      .hit("ttl=30", after: 30),
      .sent(.ann("max-age=60"), after: 30)),
    Self(
      "A date in Date that is old adds to the age",
      .sent(.ann("max-age=60", ["Date": "Wed, 31 Dec 2025 23:59:20 GMT"])), .hit("ttl=10", after: 10),
      .sent(.ann("max-age=60"), after: 10)),
    Self("max-age takes precedence over Expires", .sent(.ann("max-age=60", ["Expires": "0"])), .hit("ttl=60")),
    Self(
      "Expires in the past is stale",
      .sent(.ann(nil, ["Expires": "Wed, 31 Dec 2025 00:00:00 GMT", "ETag": "\"1\""])),
      .sent(.unchanged()).sending("If-None-Match", "\"1\"")),
    Self(
      "An invalid Expires is stale", .sent(.ann(nil, ["Expires": "tomorrow", "ETag": "\"1\""])), .sent(.unchanged())),
    Self("Shared caches' directives have no effect", .sent(.ann("s-maxage=0, max-age=60, proxy-revalidate")), .hit()),
    Self("private", .sent(.ann("private, max-age=60")), .hit()),
    Self("An unknown directive has no effect", .sent(.ann("max-age=60, x=\"no-store\"")), .hit()),
    Self(
      "Contradictory lifetimes are stale", .sent(.ann("max-age=60, max-age=30", ["ETag": "\"1\""])),
      .sent(.unchanged())),
    Self("Without a lifetime a response is validated", .sent(.ann(nil, ["ETag": "\"1\""])), .sent(.unchanged())),
    Self("no-store", .sent(.ann("no-store"), "fwd=uri-miss"), .sent(.ann("no-store"), "fwd=uri-miss")),
    Self(
      "no-store of the request", .sent(.ann("max-age=60")).field("Cache-Control", "no-store"), .sent(.ann("max-age=60"))
    ),
    Self(
      "A 404 with a lifetime",
      .sent(.text("none", status: 404, fields: ["Cache-Control": "max-age=60"])).gives("none", 404),
      .hit().gives("none", 404)),
    Self("A chunked response", .sent(.chunked([[65], [110, 110]], fields: ["Cache-Control": "max-age=60"])), .hit()),
    Self(
      "A response after an early hint", .sent(.ann("max-age=60").interim(103, fields: ["Cache-Control": "no-store"])),
      .hit()),
    Self(
      "Cut content is not stored",
      .sent(.ann("max-age=60").closing(at: .content(2))).failing(.connectionLost, 200).with { $0.status = 200 },
      .sent(.ann("max-age=60"))),
  ]

  private static let validation = [
    Self(
      "A strong tag", .sent(.ann("max-age=5", ["ETag": "\"1\"", "X-Old": "1"])),
      .sent(
        .unchanged("max-age=60", ["ETag": "\"1\"", "X-New": "2"]), after: 10,
        "fwd=stale; fwd-status=304; ttl=60; stored"
      )
      .sending("If-None-Match", "\"1\"").receiving("X-Old", "1").receiving("X-New", "2"),
      .hit("ttl=60").receiving("X-New", "2")),
    Self(
      "A weak tag", .sent(.ann("max-age=5", ["ETag": "W/\"1\""])),
      .sent(.unchanged("max-age=60", ["ETag": "W/\"1\""]), after: 10).sending("If-None-Match", "W/\"1\""),
      .hit("ttl=60")),
    Self(
      "Last-Modified", .sent(.ann("max-age=5", ["Last-Modified": .init(stringLiteral: midnight)])),
      .sent(.unchanged("max-age=60"), after: 10).sending("If-Modified-Since", midnight), .hit("ttl=60")),
    Self(
      "A new tag replaces", .sent(.ann("max-age=5", ["ETag": "\"1\""])),
      .sent(.ann("max-age=60", ["ETag": "\"2\""], text: "Bob"), after: 10).gives("Bob"), .hit().gives("Bob")),
    Self(
      "A 304 that confirms nothing repeats the call", .sent(.ann("no-cache", ["ETag": "\"1\""])),
      .sent(.ann("no-cache", ["ETag": "\"2\""], text: "Bob")).sending("If-None-Match", "\"1\"").gives("Bob"),
      .sent(.unchanged()).sending("If-None-Match", "\"2\"").gives("Bob")),
    Self(
      "no-cache is validated before each use", .sent(.ann("no-cache, max-age=60", ["ETag": "\"1\""])),
      .sent(.unchanged("no-cache")), .sent(.unchanged("no-cache"))),
    Self(
      "Conditions of the app reach the app's 304", .sent(.ann("max-age=60", ["ETag": "\"1\""])),
      .hit().field("If-None-Match", "\"1\"").gives("", 304), .hit().field("If-None-Match", "\"2\"")),
    Self(
      "A reload", .sent(.ann("max-age=60", ["ETag": "\"1\""])),
      .sent(.unchanged("max-age=60")).policy(.reload).sending("Cache-Control", "no-cache").sending(
        "If-None-Match", "\"1\""),
      .hit()),
    Self(
      "Directives of the request", .sent(.ann("max-age=60", ["ETag": "\"1\""])),
      .hit("ttl=40", after: 20).field("Cache-Control", "max-age=30"),
      .sent(.unchanged("max-age=60")).field("Cache-Control", "max-age=10"),
      .sent(.unchanged("max-age=60"), after: 20).field("Cache-Control", "min-fresh=50"),
      .hit("ttl=-10", after: 70).field("Cache-Control", "max-stale=30")),
    Self(
      "Cookies are not replayed", .sent(.ann("max-age=60", ["Set-Cookie": "a=1"])).receiving("Set-Cookie", "a=1"),
      .hit().receiving("Set-Cookie", "")),
  ]
}
