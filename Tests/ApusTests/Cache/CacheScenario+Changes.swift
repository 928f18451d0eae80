import Apus
import ApusTestServer

extension CacheScenario {
  /// "hello hello hello".
  private static let compressed: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 64, 144, 0, 128, 136, 249, 229, 17, 0, 0, 0,
  ]
  private static let zipped = Reply.status(
    200, fields: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"], content: compressed)
  private static let digits = Reply.ann("max-age=60", ["ETag": "\"1\""], text: "0123456789")

  /// Variants, methods, ranges and codings.
  static let forms = [
    Self(
      "Vary",
      .sent(.ann("max-age=60", ["Vary": "Accept-Language"], text: "hello")).field("Accept-Language", "en").gives(
        "hello"),
      .sent(.ann("max-age=60", ["Vary": "Accept-Language"], text: "hallo"), "fwd=vary-miss; stored").field(
        "Accept-Language", "de"
      ).gives("hallo"),
      .hit().field("Accept-Language", "en").gives("hello"), .hit().field("Accept-Language", "de").gives("hallo")),
    Self("Vary of everything", .sent(.ann("max-age=60", ["Vary": "*"])), .sent(.ann("max-age=60"))),
    Self("Vary by fields of the transport", .sent(.ann("max-age=60", ["Vary": "Accept-Encoding, User-Agent"])), .hit()),
    Self(
      "A response to GET answers HEAD", .sent(digits).gives("0123456789"),
      .hit().to("/a", "HEAD").gives("").receiving("Content-Length", "10")),
    Self(
      "A response to HEAD freshens one to GET", .sent(.ann("max-age=5", ["ETag": "\"1\""])),
      .sent(.ann("max-age=60", ["ETag": "\"1\""]), after: 10).to("/a", "HEAD").gives(""), .hit("ttl=60")),
    Self(
      "A response to HEAD with another tag invalidates one to GET", .sent(.ann("max-age=60", ["ETag": "\"1\""])),
      .sent(.ann("max-age=60", ["ETag": "\"2\""])).to("/a", "HEAD").field("Cache-Control", "no-cache").gives(""),
      .sent(.ann("max-age=60"))),
    Self(
      "Ranges", .sent(digits).gives("0123456789"),
      .hit().field("Range", "bytes=2-4").gives("234", 206).receiving("Content-Range", "bytes 2-4/10"),
      .hit().field("Range", "bytes=-3").gives("789", 206), .hit().field("Range", "bytes=7-").gives("789", 206)),
    Self(
      "If-Range", .sent(digits).gives("0123456789"),
      .hit().field("Range", "bytes=2-4").field("If-Range", "\"1\"").gives("234", 206),
      .hit().field("Range", "bytes=2-4").field("If-Range", "\"2\"").gives("0123456789")),
    Self(
      "A part is not stored",
      .sent(.text("234", status: 206, fields: ["Cache-Control": "max-age=60", "Content-Range": "bytes 2-4/10"]))
        .field("Range", "bytes=2-4").gives("234", 206),
      .sent(digits).gives("0123456789")),
    Self(
      "Compressed content is stored decoded", .sent(zipped).gives("hello hello hello"),
      .hit().gives("hello hello hello").receiving("Content-Encoding", ""),
      .sent(.text("ab", status: 206, fields: ["Content-Range": "bytes 0-1/28"]), "fwd=partial")
        .field("Range", "bytes=0-1").gives("ab", 206)),
    Self(
      "Parts of compressed content are the server's", .sent(zipped).streamed.gives("hello hello hello"),
      .hit().gives("hello hello hello"),
      .sent(.text("ab", status: 206, fields: ["Content-Range": "bytes 0-1/28"]), "fwd=partial")
        .field("Range", "bytes=0-1").gives("ab", 206)),
    Self(
      "QUERY with its content", .sent(.ann("max-age=60")).to("/a", "QUERY").with { $0.content = "a" },
      .hit().to("/a", "QUERY").with { $0.content = "a" },
      .sent(.ann("max-age=60", text: "Bob")).to("/a", "QUERY").with { $0.content = "b" }.gives("Bob")),
    Self(
      "Streams are stored", .sent(digits).streamed.gives("0123456789"), .hit().gives("0123456789"),
      Step().streamed.gives("0123456789")),
    Self(
      "Only stored responses", Step(policy: .onlyIfCached).gives("", 504), .sent(.ann("max-age=60")),
      .hit().policy(.onlyIfCached)),
    Self("Without the cache", .sent(.ann("max-age=60")).policy(CachePolicy.none), .sent(.ann("max-age=60"))),
  ]

  /// Unsafe methods.
  static let changes = [
    Self(
      "POST invalidates its URL", .sent(.ann("max-age=60", ["ETag": "\"1\""])),
      .sent(.status(204)).to("/a", "POST").gives("", 204),
      .sent(.ann("max-age=60"), "fwd=uri-miss; stored").sending("If-None-Match", ""), .hit()),
    Self(
      "PUT and DELETE invalidate", .sent(.ann("max-age=60")), .sent(.status(204)).to("/a", "PUT").gives("", 204),
      .sent(.ann("max-age=60")), .sent(.status(204)).to("/a", "DELETE").gives("", 204), .sent(.ann("max-age=60"))),
    Self(
      "A failed POST invalidates nothing", .sent(.ann("max-age=60")),
      .sent(.status(500)).to("/a", "POST").gives("", 500), .hit()),
    Self(
      "Location and Content-Location", .sent(.ann("max-age=60")), .sent(.ann("max-age=60")).to("/b"),
      .sent(.status(201, fields: ["Location": "/a", "Content-Location": "b"])).to("/list", "POST").gives("", 201),
      .sent(.ann("max-age=60")), .sent(.ann("max-age=60")).to("/b")),
    Self(
      "Location at another origin", .sent(.ann("max-age=60")),
      .sent(.status(201, fields: ["Location": "https://one.example/a"])).to("/list", "POST").gives("", 201), .hit()),
    Self(
      "Groups of the server", .sent(.ann("max-age=60", ["Cache-Groups": "\"g\""])),
      .sent(.status(204, fields: ["Cache-Group-Invalidation": "\"g\""])).to("/list", "POST").gives("", 204),
      .sent(.ann("max-age=60"))),
  ]

  static let stale = [
    Self(
      "stale-while-revalidate", .sent(.ann("max-age=10, stale-while-revalidate=60", ["ETag": "\"1\""])),
      .sent(.unchanged("max-age=60"), after: 20, "hit; ttl=-10").sending("If-None-Match", "\"1\"").inBackground,
      .hit("ttl=60")),
    Self(
      "After the window the response is validated first",
      .sent(.ann("max-age=10, stale-while-revalidate=5", ["ETag": "\"1\""])),
      .sent(.unchanged("max-age=60"), after: 20, "fwd=stale; fwd-status=304; ttl=60; stored"), .hit("ttl=60")),
    Self(
      "stale-if-error after an error of the server", .sent(.ann("max-age=10, stale-if-error=60")),
      .sent(.status(503), after: 20, "fwd=stale; fwd-status=503; ttl=-10; detail=stale-if-error").receiving(
        "Age", "20"),
      .sent(.ann("max-age=60", text: "Bob"), after: 1).gives("Bob")),
    Self(
      "stale-if-error after a lost connection", .sent(.ann("max-age=10, stale-if-error=60")),
      .sent(.ann("max-age=10").closing(at: .content(2)), after: 20, "fwd=stale; ttl=-10; detail=stale-if-error")),
    Self(
      "A call that allows stale responses", .sent(.ann("max-age=10")),
      .sent(.status(500), after: 20).policy(.allowStale(.seconds(60))), .sent(.status(500), after: 1).gives("", 500)),
    Self(
      "must-revalidate permits no stale response", .sent(.ann("max-age=10, stale-if-error=60, must-revalidate")),
      .sent(.status(503), after: 20).gives("", 503)),
    Self(
      "A stream of a stale response", .sent(.ann("max-age=10, stale-if-error=60")),
      .sent(.status(502), after: 20).streamed),
  ]
}
