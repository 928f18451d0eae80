import ApusCore
import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Authentication: protection spaces")
struct ProtectionSpacesTests {
  private func message(_ target: String, host: String = "a.example") -> RequestMessage {
    RequestMessage(head: HTTPRequest(method: .get, scheme: "https", authority: host, path: target))
  }

  private let outer = Challenge("Basic", parameters: [.init("realm", "outer")])
  private let inner = Challenge("Basic", parameters: [.init("realm", "inner")])

  @Test(
    "A challenge applies to the folder of its request and everything below, on the same server",
    arguments: [
      ("/a/b", true), ("/a/", true), ("/a/c?x=/a/", true), ("/a/b/c", true), ("/a", false), ("/b", false), ("/", false),
    ])
  func folder(target: String, isKnown: Bool) {
    let spaces = ProtectionSpaces()
    #expect(spaces.challenge(for: message(target))?.challenge == nil)
    spaces.store(outer, from: message("/a/b?x=/y/"), isWhole: false)
    #expect((spaces.challenge(for: message(target))?.challenge == outer) == isKnown)
    #expect(spaces.challenge(for: message(target, host: "b.example"))?.challenge == nil)
  }

  @Test("The challenge of the innermost folder applies, and a new challenge replaces the old challenge")
  func nested() {
    let spaces = ProtectionSpaces()
    spaces.store(outer, from: message("/x"), isWhole: true)
    spaces.store(inner, from: message("/ops/x"), isWhole: false)
    #expect(spaces.challenge(for: message("/ops/y"))?.challenge == inner)
    #expect(spaces.challenge(for: message("/ops"))?.challenge == outer)
    spaces.store(outer, from: message("/ops/z"), isWhole: false)
    #expect(spaces.challenge(for: message("/ops/y"))?.challenge == outer)
  }

  @Test("Beyond the limit the oldest folders are dropped")
  func bounded() {
    let spaces = ProtectionSpaces()
    for number in 0...64 { spaces.store(outer, from: message("/\(number)/x"), isWhole: false) }
    #expect(spaces.challenge(for: message("/0/x"))?.challenge == nil)
    #expect(spaces.challenge(for: message("/1/x"))?.challenge == outer)
    #expect(spaces.challenge(for: message("/64/x"))?.challenge == outer)
  }
}
