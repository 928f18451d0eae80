import Apus
import ApusTestServer
import Testing

// begin
private struct NewFriend: Codable, Sendable { let name: String }

extension Endpoint where Self == Request<User> {
  fileprivate static func addFriend(_ friend: NewFriend) -> Self { .post("/friends", content: .json(friend)) }
}
extension Endpoint where Self == Request<Void> {
  fileprivate static func removeFriend(_ id: User.ID) -> Self { .delete("/friends/\(id)") }
}
// end

@Suite("41: adding an endpoint")
struct Capability41AddingTests {
  @Test("An endpoint can be added as an extension of three lines, as in the README")
  func adding() async throws {
    try await TestServer.with {
      $0.method == "POST" ? .json(#"{"id":7,"name":"Ann"}"#, status: 201) : .status(204)
    } body: { server in
      let (api, id) = (server.client(), 7)
      let added = try await api.send(.addFriend(NewFriend(name: "Ann")))
      #expect(added == User(id: 7, name: "Ann"))
      // begin
      try await api.send(.removeFriend(id))
      // end
      #expect(server.exchanges.map { [$0.method, $0.target] } == [["POST", "/friends"], ["DELETE", "/friends/7"]])
      #expect(server.exchanges[0].text == #"{"name":"Ann"}"#)
    }
    let sample = try ReadmeSample.lines("adding")
    #expect(sample == (try ReadmeSample.marked()))
    let begin = try #require(sample.firstIndex { $0.hasPrefix("extension") })
    #expect(sample[begin...].firstIndex(of: "}") == begin + 2)
  }
}
