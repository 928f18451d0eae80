import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("The owner of a folder's account")
struct CacheOwnerTests {
  private let origin = Origin(scheme: "https", host: "a.example", port: 443)
  private let other = Origin(scheme: "https", host: "b.example", port: 443)

  @Test("As long as the credentials stay the same, a later process may use what is stored")
  func same() {
    var owner = CacheOwner()
    let bindings = [owner.bind(1, at: origin), owner.bind(1, at: origin), owner.bind(2, at: other)]
    #expect(bindings.allSatisfy { !$0.isOther && $0.run == nil })
  }

  @Test("Other credentials remove what is stored once, and bind what follows to the process")
  func change() {
    var owner = CacheOwner()
    _ = owner.bind(1, at: origin)
    let (second, third, back) = (owner.bind(2, at: origin), owner.bind(2, at: origin), owner.bind(1, at: origin))
    #expect(second.isOther && second.run != nil)
    #expect(!third.isOther && third.run == second.run)
    #expect(back.isOther && back.run == second.run)
  }

  @Test("After a sign-out, what follows is bound to the process, also if there was no call before")
  func signOut() {
    var (owner, another) = (CacheOwner(), CacheOwner())
    owner.signOut()
    another.signOut()
    let (first, elsewhere) = (owner.bind(1, at: origin), another.bind(1, at: origin))
    #expect(!first.isOther && first.run != nil && first.run != elsewhere.run)
  }
}
