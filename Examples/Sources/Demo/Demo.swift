/// A demo in the terminal: small apps call real servers, and the servers' logs are checked against the scenes'
/// claims.
public enum Demo {
  /// Plays all scenes, then compares the servers' logs with the scenes' claims.
  ///
  /// - Parameters:
  ///   - options: the options.
  ///   - write: prints a text unchanged.
  /// - Returns: whether all expectations are met.
  /// - Throws: errors that prevent the start, such as ``Server/TooFast``.
  public static func play(_ options: DemoOptions, write: @escaping @Sendable (String) -> Void) async throws -> Bool {
    let stage = Stage(isTerminal: options.isTerminal, hasColor: options.hasColor, write: write)
    introduce(on: stage)
    let world = try await World(options, stage: stage)
    stage.say("Servers: " + world.servers.map { "\($0.name) \($0.address)" }.joined(separator: ", "))
    var expectations = Expectations(breaking: options.broken)
    for chapter in chapters {
      stage.chapter(chapter.title)
      for scene in chapter.scenes {
        guard let checks = await play(scene, in: world) else {
          expectations.skip()
          continue
        }
        for check in checks { expectations.add(check) }
      }
    }
    show(expectations, on: stage)
    await world.stop()
    return expectations.areMet
  }

  private struct Chapter {
    let title: String
    /// The chapter's contents in a few words, for the introduction.
    let summary: String
    let scenes: [any Scene]
  }

  private static let chapters = [
    Chapter(
      title: "Accounts", summary: "sign-up, sign-in, and a session that survives a restart of the app",
      scenes: [SignUpScene(), SignInScene(), StoredSessionScene()]),
    Chapter(
      title: "OAuth", summary: "sign-in with a browser, a restart that stays signed in",
      scenes: [BrowserSignInScene(), BrowserRestartScene()]),
    Chapter(
      title: "Friends", summary: "pages, a double tap, changes, a lost response, no internet, stored friends",
      scenes: [
        AllFriendsScene(), DoubleTapScene(), ChangeFriendsScene(), InvalidFormScene(), MissingFriendScene(),
        NoInternetScene(), StoredFriendsScene(),
      ]),
    Chapter(
      title: "Movies", summary: "pages, details, videos, posters, search, three environments",
      scenes: [
        NewMoviesScene(), MovieDetailsScene(), VideosScene(), PostersScene(), LoaderScene(), SearchScene(),
        EnvironmentsScene(),
      ]),
    Chapter(
      title: "Several servers", summary: "switching, separate credentials, the request log, enveloped news",
      scenes: [SwitchServersScene(), SeparateCredentialsScene(), RequestLogScene(), NewsScene()]),
    Chapter(
      title: "Tokens", summary: "refresh, a late response, idempotency, an expired session",
      scenes: [RefreshScene(), LateResponseScene(), LostResponseScene(), ExpiredSessionScene()]),
    Chapter(
      title: "Transfers", summary: "an avatar, a bucket, a resumed download, a live feed, a stored position",
      scenes: [AvatarScene(), BucketScene(), DownloadScene(), ActivityScene(), StoredPositionScene()]),
    Chapter(
      title: "Failures", summary: "timeouts, deadlines, retries, a circuit breaker, malformed responses",
      scenes: [
        StalledServerScene(), DeadlineScene(), RetryScene(), CircuitBreakerScene(), MalformedResponseScene(),
        ServerDownScene(),
      ]),
    Chapter(
      title: "Control", summary: "cancellation, the trace of a call, sign-out",
      scenes: [CancelScene(), TraceScene(), SignOutScene()]),
  ]

  private static func introduce(on stage: Stage) {
    stage.headline("Apus: small apps against real servers")
    stage.say("Apps for friends, movies and news call HTTP servers that run in this process, on 127.0.0.1.")
    stage.say("Every call is real. At the end, the servers' own logs are compared with what each scene claims.")
    stage.say("")
    let width = chapters.map(\.title.count).max() ?? 0
    for chapter in chapters {
      stage.say("  \(chapter.title.padded(to: width))  \(chapter.summary)")
    }
    stage.say("")
    stage.legend()
    stage.say("")
  }

  /// Plays a scene and checks its claims against the rows that the servers logged during the scene.
  ///
  /// - Returns: the checks; `nil` if the scene was skipped.
  private static func play(_ scene: any Scene, in world: World) async -> [Check]? {
    world.stage.title(scene.title)
    do {
      var positions: [String: Int] = [:]
      for server in world.servers { positions[server.name] = try await server.log.position() }
      let claims = try await scene.play(in: world)
      var checks: [Check] = []
      for claim in claims {
        let rows = try await claim.server?.log.rows(since: positions[claim.server?.name ?? ""] ?? 0)
        checks.append(claim.check(rows ?? []))
      }
      try await world.stage.pause()
      return checks
    } catch let missing as MissingServer where !world.requiresServers {
      world.stage.say("Skipped: \(missing)")
      return nil
    } catch {
      world.stage.say("✗ \(error)")
      return [Check(name: "scene", subject: scene.title, expected: "played to the end", actual: "\(error)")]
    }
  }

  private static func show(_ expectations: Expectations, on stage: Stage) {
    stage.chapter("Expectations, checked against the servers' logs")
    for (row, line) in zip(expectations.rows, expectations.lines) { stage.row(row, line: line) }
    stage.say("")
    stage.result(expectations.summary, isSuccess: expectations.areMet)
  }
}

/// The options of the demo.
public struct DemoOptions: Sendable {
  /// The address of a running backend to use as the staging server; `nil` starts one in this process.
  public var stagingURL: String?
  /// The address of a running backend to use as the production server; `nil` starts one in this process.
  public var productionURL: String?
  /// The API key of running backends.
  public var apiKey = "demo-key"
  /// The delay of every response of the backends in this process, so that calls in flight can be seen.
  public var latency: Duration = .milliseconds(150)
  /// scrypt's N of the backends in this process.
  public var passwordHashRounds = 16_384
  /// The folder of this repository, in which third-party servers are installed; `nil` starts no third-party servers.
  public var checkout: String?
  /// Whether a third-party server that is not installed is a failure; otherwise its scene is skipped.
  public var requiresServers = false
  /// The name of an expectation to break.
  public var broken: String?
  /// Whether the output is a terminal, where lines are redrawn and scenes pause to be read.
  public var isTerminal = false
  /// Whether to print colors.
  public var hasColor = false
  /// Runs the demo's program again with arguments and returns its output; `nil` restarts the app within this process.
  public var runAgain: (@Sendable ([String]) async throws -> String)?

  /// Creates the default options.
  public init() {}
}
