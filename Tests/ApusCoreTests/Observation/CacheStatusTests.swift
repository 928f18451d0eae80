import Testing

@testable import ApusCore

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
  private static func status(
    _ forward: CacheStatus.Forward?, ttl: Int64? = nil, _ change: (inout CacheStatus) -> Void = { _ in }
  ) -> CacheStatus {
    var status = CacheStatus(forward: forward, remainingSeconds: ttl)
    change(&status)
    return status
  }

  @Test(
    "A decision has the form of the field",
    arguments: [
      (status(nil), "Apus; hit"), (status(nil, ttl: 376), "Apus; hit; ttl=376"),
      (status(nil, ttl: -412), "Apus; hit; ttl=-412"),
      (status(.uriMiss) { $0.isStored = true }, "Apus; fwd=uri-miss; stored"),
      (status(.varyMiss) { $0.isCollapsed = true }, "Apus; fwd=vary-miss; collapsed"),
      (
        status(.stale, ttl: 60) { ($0.forwardStatus, $0.isStored) = (304, true) },
        "Apus; fwd=stale; fwd-status=304; ttl=60; stored"
      ),
      (
        status(.stale, ttl: -5) { ($0.forwardStatus, $0.detail) = (503, "stale-if-error") },
        "Apus; fwd=stale; fwd-status=503; ttl=-5; detail=stale-if-error"
      ),
      (status(.bypass), "Apus; fwd=bypass"), (status(.partial), "Apus; fwd=partial"),
      // Only forwarded requests are stored or collapsed (§2.5, §2.6).
      (status(nil) { ($0.forwardStatus, $0.isStored, $0.isCollapsed) = (200, true, true) }, "Apus; hit"),
    ])
  func text(status: CacheStatus, text: String) {
    #expect(status.description == text)
  }
}
