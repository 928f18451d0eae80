import Apus
import ApusTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("1: an app's code depends only on the module Apus")
@MainActor
struct Capability01IsolationTests {
  @Test("Endpoints, a service and a screen compile with Apus as their only import and without transport types")
  func onlyImport() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("IsolatedApp.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let imports = source.split(separator: "\n").filter { $0.contains("import ") && !$0.hasPrefix("//") }
    #expect(imports == ["import Apus"])
    for name in ["URLSession", "URLRequest", "Data", "NIO", "Any", "HTTPRequest", "HTTPField"] {
      #expect(!source.contains(name), "\(name)")
    }
  }

  @Test("The isolated app works: its screen shows models or an error message")
  func works() async throws {
    let stub = StubTransport()
    stub.on(.get, "/users/7/friends", replies: [.json(#"[{"id":1,"name":"Ann"}]"#), .status(503)])
    let screen = FriendsScreen(service: RemoteFriends(api: Client(baseURL: "https://example.test", transport: stub)))
    await screen.load(7)
    #expect(screen.friends == [Friend(id: 1, name: "Ann")])
    #expect(screen.message.isEmpty)
    await screen.load(7)
    #expect(screen.message == "The server has a problem. Try again later.")
    #expect(screen.friends == [Friend(id: 1, name: "Ann")])
  }
}
