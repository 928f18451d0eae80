import Apus
public import FriendsService
public import Observation

/// The state of a screen with a list of friends, isolated to the main actor by the target's default.
@Observable
public final class FriendsModel {
  /// The friends of the last successful load.
  public private(set) var friends: [Friend] = []
  /// Whether a load is in flight.
  public var isLoading: Bool { loads > 0 }
  /// The error message of the last load; `nil` when it succeeded.
  public private(set) var errorText: String?
  /// The number of times the list was replaced.
  public private(set) var revision = 0

  private let service: any FriendsService
  /// The number of loads in flight. A counter, so that a superseded load does not stop the spinner of a newer one.
  private var loads = 0

  /// Creates a model with an empty list.
  public init(service: any FriendsService) {
    self.service = service
  }

  /// Loads the list. A newer load supersedes an older one in flight.
  public func reload(in category: String? = nil) async {
    loads += 1
    defer { loads -= 1 }
    do throws(CallError) {
      friends = try await service.latestFriends(in: category).items
      errorText = nil
      revision += 1
    } catch {
      // A cancelled or superseded load is not an error.
      if !error.isCancellation { errorText = error.errorDescription }
    }
  }

  /// Starts a load, as the action of a button.
  public func tapReload() {
    Task { await reload() }
  }

  /// Removes a friend on the server, then from the list.
  public func remove(_ friend: Friend) async {
    do throws(CallError) {
      try await service.remove(friend.id)
      friends.removeAll { $0.id == friend.id }
      errorText = nil
    } catch {
      if !error.isCancellation { errorText = error.errorDescription }
    }
  }
}
