import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Keys and subjects of a cache")
struct CacheKeyTests {
  private let subjects = CacheSubjects(key: .random())
  private let origin = CacheWorld.origin

  @Test("Keys are equal only if all parts are equal")
  func equality() {
    let (one, two) = (KeyedDigest(first: 1, second: 1), KeyedDigest(first: 1, second: 2))
    var keys: Set<CacheKey> = []
    for target in [one, two] {
      for session in [one, two] {
        for account in [nil, 0, 1] as [UInt64?] {
          keys.insert(CacheKey(target: target, account: account, session: session))
        }
      }
    }
    #expect(keys.count == 12)
  }

  @Test("Targets, groups, groups at all origins and accounts never have the same digest")
  func subjectsDiffer() {
    let others = [
      Origin(scheme: "http", host: "a.example", port: 443), Origin(scheme: "https", host: "b.example", port: 443),
      Origin(scheme: "https", host: "a.example", port: 444),
    ]
    var digests = [
      subjects.group("/a", at: nil), subjects.group("", at: nil), subjects.account(named: "/a"),
      subjects.account(named: ""),
    ]
    for origin in [origin] + others {
      for text in ["", "/a", "/a?b"] {
        digests += [subjects.target(text, at: origin), subjects.group(text, at: origin)]
      }
    }
    #expect(Set(digests).count == digests.count)
    #expect(subjects.target("/a", at: origin) == subjects.target("/a", at: CacheWorld.origin))
    #expect(Set(subjects.groups(["a"], at: origin)) == [subjects.group("a", at: origin), subjects.group("a", at: nil)])
  }
}
