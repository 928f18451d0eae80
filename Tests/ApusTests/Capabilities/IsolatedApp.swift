import Apus

// A part of an app: this file imports only Apus.

struct Friend: Codable, Sendable, Equatable {
  let id: Int
  let name: String
}

extension Endpoint where Self == Request<[Friend]> {
  static func friends(of id: Friend.ID) -> Self { .get("/users/\(id)/friends") }
}

extension Friend: Identifiable {}

/// The backend as an interface for the app.
protocol FriendsService: Sendable {
  func friends(of id: Friend.ID) async throws(CallError) -> [Friend]
  func add(_ name: String, to id: Friend.ID) async throws(CallError) -> Friend
}

/// The service that uses a client.
struct RemoteFriends: FriendsService {
  let api: Client

  func friends(of id: Friend.ID) async throws(CallError) -> [Friend] {
    try await api.send(.friends(of: id).latestWins("friends"))
  }

  func add(_ name: String, to id: Friend.ID) async throws(CallError) -> Friend {
    try await api.send(.post("/users/\(id)/friends", content: .json(["name": name])))
  }
}

/// The state of a screen.
@MainActor
final class FriendsScreen {
  private(set) var friends: [Friend] = []
  private(set) var message = ""
  private let service: any FriendsService

  init(service: any FriendsService) {
    self.service = service
  }

  func load(_ id: Friend.ID) async {
    do throws(CallError) {
      friends = try await service.friends(of: id)
    } catch {
      message = error.errorDescription ?? ""
    }
  }
}
