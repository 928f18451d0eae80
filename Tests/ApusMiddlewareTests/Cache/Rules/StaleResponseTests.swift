import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Stale responses in place of errors (RFC 5861 §4, RFC 9111 §4.2.4)")
struct StaleResponseTests {
  private let day: Int64 = 24 * 60 * 60

  private func isUsed(
    _ failure: CacheFailure, _ control: String, age: Int64, allowed: Int64? = nil
  ) -> Bool {
    let stored = CacheWorld.stored("Cache-Control: \(control)")
    var request = CacheWorld.request()
    request.allowedStaleness = allowed
    return isUsed(stored, age: age, request, after: failure)
  }

  private func isUsed(
    _ stored: StoredResponse, age: Int64, _ request: CacheRequest, after failure: CacheFailure = .offline
  ) -> Bool {
    CacheRules().staleHit(after: failure, to: request, among: [stored], at: CacheWorld.at(age)) != nil
  }

  @Test("Only 500, 502, 503 and 504 count, within the time that the server or the call allows")
  func statuses() {
    for code in 200...599 {
      let failure = CacheFailure.status(.init(code: code))
      let isError = [500, 502, 503, 504].contains(code)
      #expect(isUsed(failure, "max-age=10, stale-if-error=60", age: 70) == isError, "\(code)")
      #expect(isUsed(failure, "max-age=10", age: 70, allowed: 60) == isError, "\(code)")
      #expect(!isUsed(failure, "max-age=10, stale-if-error=60", age: 71), "\(code)")
      #expect(!isUsed(failure, "max-age=10", age: 11), "\(code)")
    }
  }

  @Test(
    "Each failure has its limit",
    arguments: [
      (.unreachable, "max-age=10, stale-if-error=60", 70, true),
      (.unreachable, "max-age=10, stale-if-error=60", 71, false), (.unreachable, "max-age=10", 11, false),
      (.unreachable, "max-age=10, stale-if-error=x", 11, false), (.offline, "max-age=10", 604_810, true),
      (.offline, "max-age=10", 604_811, false), (.offline, "max-age=10, stale-if-error=999999", 700_000, true),
      (.offline, "max-age=10, stale-if-error=0", 60, true), (.offline, "public", 60, true),
      (.offline, "max-age=10, must-revalidate", 11, false), (.offline, "max-age=10, no-cache", 5, false),
      (.offline, "max-age=10, proxy-revalidate, s-maxage=1", 11, true),
      (.unreachable, "max-age=10, stale-if-error=60, must-revalidate", 11, false),
      (.other, "max-age=10, stale-if-error=60", 11, false), (.other, "max-age=10, stale-if-error=60", 5, false),
    ] as [(CacheFailure, String, Int64, Bool)])
  func limits(failure: CacheFailure, control: String, age: Int64, isUsed: Bool) {
    #expect(self.isUsed(failure, control, age: age) == isUsed, "\(failure) \(control) \(age)")
  }

  @Test("The call's permission extends the server's, and never shortens it")
  func allowed() {
    #expect(isUsed(.unreachable, "max-age=10, stale-if-error=5", age: 60, allowed: 50))
    #expect(isUsed(.unreachable, "max-age=10, stale-if-error=60", age: 60, allowed: 5))
    #expect(isUsed(.offline, "max-age=10", age: 20 * day, allowed: 30 * day))
    #expect(!isUsed(.other, "max-age=10", age: 11, allowed: .max))
    let request = CacheWorld.request(.get, "Cache-Control: stale-if-error=50")
    #expect(isUsed(CacheWorld.stored("Cache-Control: max-age=10"), age: 60, request, after: .unreachable))
  }

  @Test("Nothing is used for requests that demand validation, for invalidated responses, and with an unknown age")
  func never() {
    let stored = CacheWorld.stored("Cache-Control: max-age=10")
    for line in ["Cache-Control: no-cache", "Cache-Control: no-store", "Pragma: no-cache", "If-Match: \"a\""] {
      var request = CacheWorld.request(.get, line)
      request.allowedStaleness = .max
      #expect(!isUsed(stored, age: 11, request), "\(line)")
    }
    #expect(!isUsed(stored, age: 11, CacheWorld.request(.post)))
    var request = CacheWorld.request()
    request.allowedStaleness = .max
    #expect(isUsed(stored, age: 11, request) && !isUsed(stored, age: -1, request))
    var other = stored
    other.isInvalidated = true
    #expect(!isUsed(other, age: 11, request))
    other = stored
    other.isComplete = false
    #expect(!isUsed(other, age: 11, request))
  }

  @Test("A stale response is used in the form of the request")
  func forms() {
    let stored = CacheWorld.stored("Cache-Control: max-age=10")
    func form(_ request: CacheRequest) -> CacheHit.Form? {
      CacheRules().staleHit(after: .offline, to: request, among: [stored], at: CacheWorld.at(20))?.form
    }
    #expect(form(CacheWorld.request(.head)) == .head && form(CacheWorld.request()) == .whole)
    #expect(form(CacheWorld.request(.get, "Range: bytes=0-1")) == .part(ByteRange(first: 0, last: 1, total: 11)))
    #expect(form(CacheWorld.request(.get, "Range: bytes=99-")) == nil)
  }
}
