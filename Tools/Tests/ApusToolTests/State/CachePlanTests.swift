import Apus
import ApusAWS
import Testing

@testable import ApusTool

@Suite("The cache of a command")
struct CachePlanTests {
  @Test(
    "The result of a batch states the origin of the response and whether it was stored",
    arguments: [
      ("Apus; hit; ttl=17", false, CacheOutcome.Use.hit, false),
      ("Apus; hit; ttl=-3", true, .stale, false),
      ("Apus; hit; ttl=-12; detail=stale-if-error", true, .stale, false),
      ("Apus; fwd=stale; fwd-status=304; ttl=60; stored", false, .revalidated, true),
      ("Apus; fwd=stale; ttl=60; stored", false, .miss, true),
      ("Apus; fwd=uri-miss", false, .miss, false),
      ("Apus; fwd=uri-miss; stored; collapsed", false, .miss, true),
      ("Apus; fwd=method", false, .miss, false),
    ])
  func outcome(text: String, isStale: Bool, use: CacheOutcome.Use, isStored: Bool) {
    let outcome = CacheOutcome(text, isStale: isStale)
    #expect(outcome.use == use && outcome.isStored == isStored)
  }

  @Test("Each set of credentials has an account, which does not contain a password")
  func accounts() throws {
    func account(_ credentials: CredentialPlan?, _ signing: AWSPlan? = nil) -> String {
      CachePlan.account(of: credentials, signing, in: ["AWS_PROFILE": "work"])
    }
    let keys = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "s3cret")
    let signer = SignatureV4(region: "eu-central-1", service: "s3")
    let accounts = [
      account(nil), account(.bearer("a")), account(.bearer("b")), account(.basic(user: "ada", "s3cret")),
      account(.basic(user: "grace", "s3cret")), account(nil, AWSPlan(signer: signer, credentials: .keys(keys))),
      account(nil, AWSPlan(signer: signer, credentials: .search(profile: nil))),
    ]
    #expect(Set(accounts).count == accounts.count)
    #expect(!accounts.contains { $0.contains("s3cret") })
    #expect(account(.basic(user: "ada", "other")) == accounts[3])
  }

  @Test("Clients with the same credentials share a cache")
  func caches() {
    let caches = Caches(CachePlan(folder: "/nowhere"))
    #expect(caches.cache(of: "a") === caches.cache(of: "a") && caches.cache(of: "a") !== caches.cache(of: "b"))
  }
}
