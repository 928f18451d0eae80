import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
  @Test(
    "A decision has the form of the field",
    arguments: [
      (CacheStatus(), "Apus; hit"), (CacheStatus(remainingSeconds: 376), "Apus; hit; ttl=376"),
      (CacheStatus(remainingSeconds: -412), "Apus; hit; ttl=-412"),
      (CacheStatus(forward: .uriMiss, isStored: true), "Apus; fwd=uri-miss; stored"),
      (CacheStatus(forward: .varyMiss, isCollapsed: true), "Apus; fwd=vary-miss; collapsed"),
      (
        CacheStatus(forward: .stale, forwardStatus: 304, remainingSeconds: 60, isStored: true),
        "Apus; fwd=stale; fwd-status=304; ttl=60; stored"
      ),
      (
        CacheStatus(forward: .stale, forwardStatus: 503, remainingSeconds: -5, detail: "stale-if-error"),
        "Apus; fwd=stale; fwd-status=503; ttl=-5; detail=stale-if-error"
      ),
      (CacheStatus(forward: .bypass), "Apus; fwd=bypass"), (CacheStatus(forward: .partial), "Apus; fwd=partial"),
      // Only forwarded requests are stored or collapsed (§2.5, §2.6).
      (CacheStatus(forwardStatus: 200, isStored: true, isCollapsed: true), "Apus; hit"),
    ])
  func text(status: CacheStatus, text: String) {
    #expect(status.description == text)
  }

  @Test("A hit tells the remaining lifetime, unless its age is unknown")
  func hits() {
    let stored = CacheWorld.stored("Cache-Control: max-age=60")
    func text(_ seconds: Int64) -> String? {
      let request = CacheWorld.request(.get, "Cache-Control: max-stale")
      let decision = CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(seconds))
      return decision.hit?.cacheStatus.description
    }
    #expect(text(5) == "Apus; hit; ttl=55" && text(70) == "Apus; hit; ttl=-10" && text(-5) == "Apus; hit")
  }
}
