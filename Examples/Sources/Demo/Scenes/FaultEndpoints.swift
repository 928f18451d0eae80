import Apus
import FriendsService

// Endpoints for the backend's faults; the apps do not use them.

extension Endpoint where Self == Request<Void> {
  /// Returns a request without a response.
  static func stalled() -> Self { .method(.get, "/faults/stall") }

  /// Returns a request whose response takes a second.
  static func slow() -> Self { .method(.get, "/faults/slow") }

  /// Returns a request that fails with status 503 a few times, then succeeds with status 200.
  ///
  /// - Parameters:
  ///   - key: identifies the requests to count.
  ///   - failures: the number of failures.
  ///   - milliseconds: the delay that the server's response contains. Default: `nil`, no delay.
  static func flaky(_ key: String, failures: Int, retryAfter milliseconds: Int? = nil) -> Self {
    .method(.get, "/faults/flaky", query: ["key": key, "failures": failures, "retry_after_ms": milliseconds])
  }

  /// Returns a request that always fails with status 503.
  ///
  /// - Parameter seconds: the delay that the server's response contains.
  static func busy(retryAfter seconds: Int) -> Self {
    .method(.get, "/faults/status/503", query: ["retry_after": seconds])
  }

  /// Returns a request that is redirected to another address.
  static func redirected(to address: String) -> Self {
    .method(.get, "/faults/redirect", query: ["to": address])
  }
}

extension Endpoint where Self == Request<Friend> {
  /// Returns a request that adds a friend without an idempotency key.
  static func addFriendWithoutKey(_ friend: NewFriend) -> Self { .post("/friends", content: .json(friend)) }
}

extension Endpoint where Self == Request<FriendsPage> {
  /// Returns a request for the first page of friends, sent when the network is available.
  static func friendsWhenOnline() -> Self {
    Request<FriendsPage>.get("/friends", query: ["page": 1]).json(.snakeCase).connectivity(.wait)
  }

  /// Returns a request for friends; the response's members have the wrong types.
  static func misshapenFriends() -> Self { .get("/faults/wrong-shape").json(.snakeCase) }

  /// Returns a request for friends; the response's JSON is truncated.
  static func truncatedFriends() -> Self { .get("/faults/malformed").json(.snakeCase) }
}
