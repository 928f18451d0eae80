import Apus
import FriendsScreen
import FriendsService

/// All friends, one page after another.
struct AllFriendsScene: Scene {
  let title = "All friends, page by page"

  func play(in world: World) async throws -> [Claim] {
    var friends: [Friend] = []
    var (pages, total) = (0, 0)
    for try await page in world.friends.pages(in: nil) {
      friends += page.items
      (pages, total) = (pages + 1, page.totalResults)
      world.stage.progress(
        "\(Stage.bar(friends.count, of: page.totalResults))  \(friends.count) of \(page.totalResults)")
    }
    world.stage.finishProgress("\(Stage.bar(1, of: 1))  \(friends.count) friends on \(pages) pages")
    world.stage.say(friends.prefix(4).map(\.name).joined(separator: ", ") + " …")
    return [
      Claim(name: "load-friends", server: world.staging, subject: "GET /friends", expected: "200 ×\(max(pages, 2))"),
      .app("all-friends", "friends shown", expected: "\(total)", shown: "\(Set(friends.map(\.id)).count)"),
    ]
  }
}

/// A second tap on "reload" before the first response.
struct DoubleTapScene: Scene {
  let title = "Two taps on “reload”: one result, and the spinner stops with the second"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let position = try await log.position()
    let model = await FriendsModel(service: world.friends)
    stage.say("tap: reload")
    async let first: Void = model.reload()
    try await log.waitForArrivals(1, of: "GET /friends", since: position)
    stage.say("tap: reload")
    async let second: Void = model.reload()
    await first
    let between = await spinner(of: model)
    stage.say("The first call is superseded; the spinner is \(between).")
    await second
    let after = await spinner(of: model)
    let revision = await model.revision
    stage.say("The second call returns \(await model.friends.count) friends; the spinner is \(after).")
    stage.say("Lists shown: \(revision); error shown: \(await model.errorText ?? "none")")
    return [
      Claim(name: "double-tap", server: world.staging, subject: "GET /friends", expected: "left, 200"),
      .app("spinner", "spinner after each call's end", expected: "on, off", shown: "\(between), \(after)"),
      .app("one-result", "lists shown after two taps", expected: "1", shown: "\(revision)"),
    ]
  }

  private func spinner(of model: FriendsModel) async -> String {
    await model.isLoading ? "on" : "off"
  }
}

/// A friend who is added, moved to a group and removed.
struct ChangeFriendsScene: Scene {
  let title = "Add, group and remove a friend"

  func play(in world: World) async throws -> [Claim] {
    let (stage, friends) = (world.stage, world.friends)
    guard case .accepted(let grace) = try await friends.add(NewFriend(name: "Grace", email: "grace@example.com")) else {
      throw UnexpectedRejection()
    }
    stage.say("Added: \(grace.name).")
    let moved = try await friends.put(grace.id, in: "chess & tea")
    stage.say("Moved to the group “\(moved.category ?? "none")”.")
    let groups = try await friends.categories()
    stage.say("Groups: " + groups.map { "\($0.name) (\($0.count))" }.joined(separator: ", "))
    try await friends.remove(grace.id)
    stage.say("Removed.")
    return [
      Claim(name: "add-friend", server: world.staging, subject: "POST /friends", expected: "201"),
      Claim(
        name: "group-friend", server: world.staging, subject: "PUT /friends/\(grace.id)/category", expected: "200"),
      Claim(name: "groups", server: world.staging, subject: "GET /friends/categories", expected: "200"),
      Claim(name: "remove-friend", server: world.staging, subject: "DELETE /friends/\(grace.id)", expected: "204"),
    ]
  }
}

/// An invalid form: the server's reasons arrive as a value, one for each input.
struct InvalidFormScene: Scene {
  let title = "An invalid form: errors beside the inputs"

  func play(in world: World) async throws -> [Claim] {
    if case .rejected(let rejection) = try await world.friends.add(NewFriend(name: "", email: "nowhere")) {
      for error in rejection.errors { world.stage.reads("\(error.field) \(error.message)", cause: "beside the input") }
    }
    return [Claim(name: "invalid-form", server: world.staging, subject: "POST /friends", expected: "422")]
  }
}

/// The removal of a friend who does not exist.
struct MissingFriendScene: Scene {
  let title = "404: a friend who does not exist"

  func play(in world: World) async throws -> [Claim] {
    let friends = world.friends
    try await showFailure(.rejected, on: world.stage) { try await friends.remove(999_999) }
    return [Claim(name: "not-found", server: world.staging, subject: "DELETE /friends/999999", expected: "404")]
  }
}

/// No internet: one call fails immediately, another waits until the network is available again.
struct NoInternetScene: Scene {
  let title = "No internet: fail immediately, or wait for the network"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.staging)
    let connectivity = Connectivity()
    let client = try Client(baseURL: server.url()) {
      $0.apply(.app)
      $0.environment = server.client.environment
      $0.connectivity = connectivity
      $0.connectivityPolicy = .failFast
    }
    let friends = LiveFriendsService(client: client)
    connectivity.report(.offline)
    stage.note("the system reports that there is no network (the demo reports it in its place)")
    let error = try await showFailure(.offline, on: stage) { try await friends.latestFriends(in: nil) }
    stage.say("The list on screen stays; a second call waits for the network …")
    let call = Task { try await client.send(.friendsWhenOnline()) }
    try await wait(until: "a call waits for the network") { connectivity.waitingCount == 1 }
    connectivity.report(.online)
    let page = try await call.value
    stage.say("… the network is back: \(page.items.count) friends.")
    return [
      Claim(name: "no-internet", server: server, subject: "GET /friends", expected: "200"),
      .app(
        "offline-error", "the call that failed immediately", expected: "offline, not sent",
        shown: "\(error.code), \(error.requestState == .notSent ? "not sent" : "sent")"),
      .app("back-online", "connectivity at the end", expected: "online", shown: "\(connectivity.status)"),
    ]
  }
}
