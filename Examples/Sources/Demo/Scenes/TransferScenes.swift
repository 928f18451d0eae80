import AccountsService
import Apus
import ApusTransfers
import Backend
import Foundation
import FriendsService
import MoviesService

/// An avatar that is uploaded to one server and downloaded from another, which gets no credentials.
struct AvatarScene: Scene {
  let title = "An avatar: uploaded with progress, shown from another server without credentials"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.unstable)
    let api = try Client(baseURL: server.url()) {
      $0.apply(.app)
      $0.environment.setField("X-Device", "demo-device", isSensitive: true)
      $0.authentication = .accounts(server.tokens)
    }
    let accounts = LiveAccountsService(client: api, credentials: server.tokens)
    try await signIn(accounts, world)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let image = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    try image.write(to: URL(fileURLWithPath: folder.path("ada.png")))
    let progress = ProgressReporter()
    async let upload = accounts.uploadAvatar(from: folder.path("ada.png"), progress: progress)
    for await step in progress { stage.progress(Stage.bar(Int((step.fraction ?? 0) * 100), of: 100)) }
    let avatar = try await upload
    stage.finishProgress("\(Stage.bar(1, of: 1))  \(progress.current.completed) bytes uploaded")
    let shown = try await api.send(Request<Data>.get(.url(avatar.url)))
    stage.say("The server returns \(avatar.url); \(shown.count) bytes come from there.")
    return [
      Claim(name: "avatar", server: server, subject: "POST /avatars", expected: "201"),
      Claim(
        name: "avatar-token", server: server, subject: "POST /avatars", expected: "\(server.fingerprint), x-device",
        summary: Self.secrets),
      Claim(name: "avatar-image", server: world.cdn, subject: "GET /avatars/*", expected: "200"),
      Claim(
        name: "avatar-secrets", server: world.cdn, subject: "GET /avatars/*", expected: "none", summary: Self.secrets),
      .app(
        "avatar-bytes", "the image that is shown", expected: "the same", shown: shown == image ? "the same" : "other"),
      .app(
        "upload-progress", "progress at the end", expected: "1.0",
        shown: progress.current.fraction.map { "\($0)" } ?? "unknown"),
    ]
  }

  private func signIn(_ accounts: LiveAccountsService, _ world: World) async throws {
    try await accounts.signIn(email: world.user.email, password: world.user.password)
  }

  /// Lists the credentials and sensitive fields in the rows.
  @Sendable
  private static func secrets(_ rows: [LoggedExchange]) -> String {
    let isMarked = rows.contains { $0.fieldNames.contains("x-device") }
    return Claim.credentials(rows) + (isMarked ? ", x-device" : "")
  }
}

/// A download whose connection is lost: the same call continues it with a range.
struct DownloadScene: Scene {
  let title = "A download: the connection is lost in the middle, and the same call continues"

  private static let film = 32710
  private static let call = "GET /films/\(film).mp4"
  private static let cut = 20_000

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.unstable)
    let movies = MovieDownloads(client: try Client(baseURL: server.url()) { $0.apply(.app) })
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    world.faults.cut.cut(Self.call, after: Self.cut)
    let file = try await movies.download(Self.film, to: folder.path("film.mp4"))
    let content = try Data(contentsOf: URL(fileURLWithPath: file.path))
    let isIdentical = content == Data(Backend.filmContent(Int64(Self.film)))
    stage.say("The server closes the connection after \(Self.cut) bytes; the file has \(file.size) bytes.")
    stage.note("one call of the app, two requests; the second asks for the rest only")
    return [
      Claim(name: "download", server: server, subject: Self.call, expected: "200, 206"),
      Claim(
        name: "download-range", server: server, subject: Self.call, expected: "none, bytes=\(Self.cut)-",
        summary: { rows in rows.map { $0.range ?? "none" }.joined(separator: ", ") }),
      Claim(
        name: "download-repeated", server: server, subject: Self.call, expected: "0 bytes sent twice",
        summary: { rows in "\(Self.cut + (rows.last?.responseContentLength ?? 0) - content.count) bytes sent twice" }),
      .app(
        "download-file", "the downloaded file", expected: "identical", shown: isIdentical ? "identical" : "different"),
    ]
  }
}

/// The friends' activity as server-sent events: the server drops the connection once, and no event is lost.
struct ActivityScene: Scene {
  let title = "A live feed: the server drops the connection, and the client reconnects"

  private static let call = "GET /friends/activity"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.unstable)
    let friends = LiveFriendsService(client: server.client)
    // The connection is cut in the middle of the third event.
    world.faults.cut.cut(Self.call, after: 120)
    var texts: [String] = []
    for try await activity in friends.activity() {
      stage.say(activity.text)
      texts.append(activity.text)
      if texts.count == 6 { break }
    }
    return [
      Claim(name: "activity", server: server, subject: Self.call, expected: "200, left", summary: Self.withoutExpiry),
      Claim(
        name: "last-event", server: server, subject: Self.call, expected: "none, 2",
        summary: { rows in Self.withoutExpiry(rows, \.lastEvent) }),
      .app(
        "activity-once", "different activities among six", expected: "6", shown: "\(Set(texts).count)"),
    ]
  }

  /// Summarizes the outcomes without those of an expired access token.
  @Sendable
  private static func withoutExpiry(_ rows: [LoggedExchange]) -> String {
    Claim.outcomes(rows.filter { $0.status == 200 })
  }

  private static func withoutExpiry(_ rows: [LoggedExchange], _ value: (LoggedExchange) -> String?) -> String {
    rows.filter { $0.status == 200 }.map { value($0) ?? "none" }.joined(separator: ", ")
  }
}

/// Friends of friends: the app stops after page 2 and resumes at page 3 after a restart.
struct StoredPositionScene: Scene {
  let title = "Friends of friends: a stored position, and the next run resumes there"

  func play(in world: World) async throws -> [Claim] {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = URL(fileURLWithPath: folder.path("position.json"))
    var names = try await names(LiveFriendsService(client: world.app), upTo: 2, position: file)
    world.stage.say("The app stops after page 2, with \(names.count) people and a position of \(try size(file)) bytes.")
    let rest = try await self.names(LiveFriendsService(client: world.app), upTo: .max, position: file)
    names += rest
    world.stage.say("The next run resumes at page 3: \(rest.count) more people.")
    return [
      Claim(name: "resumed-pages", server: world.staging, subject: "GET /friends/of-friends", expected: "200 ×5"),
      Claim(
        name: "no-page-twice", server: world.staging, subject: "GET /friends/of-friends", expected: "5",
        summary: { rows in "\(Set(rows.map(\.query)).count)" }),
      .app("all-people", "different people", expected: "45", shown: "\(Set(names).count)"),
    ]
  }

  /// Reads pages from the stored position on, and stores the position after each page.
  private func names(_ friends: any FriendsService, upTo limit: Int, position file: URL) async throws -> [String] {
    // Without a file, the first run begins at the first page.
    let stored = try? JSONDecoder().decode(PagePosition.self, from: Data(contentsOf: file))
    var names: [String] = []
    var pages = 0
    for try await step in friends.friendsOfFriends(from: stored) {
      names += step.page.items.map(\.name)
      try JSONEncoder().encode(step.next).write(to: file)
      pages += 1
      if pages == limit { break }
    }
    return names
  }

  private func size(_ file: URL) throws -> Int { try Data(contentsOf: file).count }
}
