import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Cache-Control")
struct CacheControlTests {
  private func parse(_ values: String...) -> CacheControl {
    CacheControl(CacheWorld.fields(values.map { "Cache-Control: \($0)" }))
  }

  @Test(
    "max-age is read as RFC 9111 §1.2.2 and §4.2.1 demand; everything unclear is zero",
    arguments: [
      ("max-age=3600", 3600), ("MaX-aGe=3600", 3600), ("max-age=\"3600\"", 3600), ("max-age=003600", 3600),
      ("foobar, max-age=3600", 3600), (", ,max-age=3600 ,", 3600), ("\tmax-age=3600\t", 3600),
      ("max-age=0", 0), ("max-age=2147483647", 2_147_483_647), ("max-age=2147483648", 2_147_483_648),
      ("max-age=2147483649", 2_147_483_648), ("max-age=99999999999999999999999999", 2_147_483_648),
      ("max-age='3600'", 0), ("max-age=-100", 0), ("max-age=+100", 0), ("max-age=a100", 0), ("max-age=100a", 0),
      ("max-age=3600.0", 0), ("max-age", 0), ("max-age=", 0), ("max-age=\"\"", 0), ("max-age=\"1", 0),
      ("max-age=\"1\"2", 0), ("max-age =100", 0), ("max-age= 100", 0), ("max-age=1 2", 0),
      ("max-age=1, max-age=1800", 0), ("max-age=1800, max-age=1", 0), ("max-age=60, max-age=60", 60),
      ("extension=\"max-age=3600\", max-age=1", 1), ("max-age=1, extension=\"max-age=3600\"", 1),
      ("extension=\"\\\"max-age=3600\", max-age=1", 1), ("max-age=60, s-maxage=1", 60),
    ] as [(String, Int64)])
  func maxAge(value: String, seconds: Int64) {
    #expect(parse(value).maxAge == seconds)
  }

  @Test("The fields of a message are read one by one")
  func severalFields() {
    let control = parse("a=\"", "max-age=60, no-store")
    #expect(control.maxAge == 60 && control.noStore)
    #expect(parse("max-age=1", "max-age=2").maxAge == 0)
    #expect(parse("").isPresent && !CacheControl().isPresent)
    #expect(parse("a=\"max-age=5").maxAge == nil)
  }

  @Test("Malformed restrictions apply, malformed permissions do not")
  func malformed() {
    for value in ["no-store", "no-store=1", "no-store=\"", "No-StOrE", "no-store x"] {
      #expect(parse(value).noStore, "\(value)")
    }
    for value in ["must-revalidate", "must-revalidate=x", "must-revalidate junk"] {
      #expect(parse(value).mustRevalidate, "\(value)")
    }
    #expect(parse("public").isPublic && !parse("public=1").isPublic && !parse("public x").isPublic)
    #expect(parse("must-understand").mustUnderstand && !parse("must-understand=1").mustUnderstand)
    #expect(parse("private").isPrivate && parse("private=\"a\"").isPrivate)
    // RFC 8246 §2: arguments of immutable are ignored.
    #expect(parse("immutable").isImmutable && parse("immutable=x").isImmutable && !parse("immutable x").isImmutable)
    #expect(parse("stale-if-error=x").staleIfError == 0 && parse("stale-while-revalidate").staleWhileRevalidate == 0)
    #expect(parse("stale-if-error=5, stale-if-error=6").staleIfError == 0)
    #expect(!parse("x-no-store, no-storex").noStore)
  }

  @Test("no-cache with field names concerns these fields only (RFC 9111 §5.2.2.4)")
  func noCacheFields() {
    #expect(parse("no-cache").noCache)
    #expect(parse("no-cache=\"\"").noCache && parse("no-cache=\"a b\"").noCache && parse("no-cache=\"a").noCache)
    for value in ["no-cache=\"A, b\"", "no-cache=\" a ,, B \"", "no-cache=a, no-cache=b"] {
      let control = parse(value)
      #expect(!control.noCache && control.noCacheFields == ["a", "b"], "\(value)")
    }
    #expect(parse("no-cache=a, no-cache").noCache)
  }

  @Test("The directives of requests are read in their most restrictive meaning (RFC 9111 §5.2.1)")
  func requests() {
    #expect(parse("max-stale").maxStale == .max && parse("max-stale=5").maxStale == 5)
    #expect(parse("max-stale=x").maxStale == 0 && parse("max-stale=1, max-stale").maxStale == 0)
    #expect(parse("min-fresh=5").minFresh == 5 && parse("min-fresh=5, min-fresh=7").minFresh == 7)
    #expect(parse("min-fresh").minFresh == CacheControl.maximumSeconds)
    #expect(parse("only-if-cached").onlyIfCached)
  }

  @Test("Pragma counts only in a request without Cache-Control (RFC 9111 §5.4)")
  func pragma() {
    #expect(CacheWorld.request(.get, "Pragma: no-cache").directives.noCache)
    #expect(CacheWorld.request(.get, "Pragma: x, No-Cache").directives.noCache)
    #expect(!CacheWorld.request(.get, "Pragma: no-cachex").directives.noCache)
    #expect(!CacheWorld.request(.get, "Pragma: no-cache", "Cache-Control: max-age=5").directives.noCache)
  }
}
