import Apus
public import FriendsService
public import Observation

/// What a screen with a list of friends shows. Nothing here says `@MainActor`: this target is isolated to it.
@Observable
public final class FriendsModel {
  /// The friends last loaded.
  public private(set) var friends: [Friend] = []
  /// Whether the spinner turns.
  public var isLoading: Bool { loads > 0 }
  /// What went wrong with the last load, for the person to read.
  public private(set) var errorText: String?
  /// How many times the list was replaced.
  public private(set) var revision = 0

  private let service: any FriendsService
  /// Counted, so that a load that ends late never stops the spinner of a newer one.
  private var loads = 0

  /// Makes a model of an empty list.
  public init(service: any FriendsService) {
    self.service = service
  }

  /// Loads the list. Started again before it ends, the newer load takes the older one's place.
  public func reload(in category: String? = nil) async {
    loads += 1
    defer { loads -= 1 }
    do throws(CallError) {
      friends = try await service.latestFriends(in: category).items
      errorText = nil
      revision += 1
    } catch {
      // Nobody needs to read that a load was cancelled or superseded.
      if !error.isCancellation { errorText = error.errorDescription }
    }
  }

  /// What a button calls.
  public func tapReload() {
    Task { await reload() }
  }

  /// Takes a friend off the server's list and this one.
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
