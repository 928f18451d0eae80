/// Three small apps on real servers, played in the terminal, and checked against what arrived at the servers.
public enum Demo {
  /// Plays everything.
  ///
  /// - Parameters:
  ///   - options: how.
  ///   - write: prints a text as it is.
  /// - Returns: whether every expectation was met.
  /// - Throws: what keeps the demo from beginning.
  public static func play(_ options: DemoOptions, write: @escaping @Sendable (String) -> Void) async throws -> Bool {
    let stage = Stage(isTerminal: options.isTerminal, write: write)
    let world = try await World(options, stage: stage)
    var expectations = Expectations(breaking: options.broken)
    for scene in scenes {
      for check in await play(scene, in: world) { expectations.add(check) }
    }
    show(expectations, on: stage)
    await world.stop()
    return expectations.areMet
  }

  private static let scenes: [any Scene] = [
    SignUp(), SignIn(), LoadFriends(), TapAgain(), ChangeFriends(), BrowseMovies(), ImagesWait(), LoadFilms(),
    SearchMovies(), SwitchServers(), ShortTokens(), LateAnswer(), AddOnce(), StalledServer(), NearDeadline(),
    IllServer(), OpenCircuit(), NothingThere(), InvalidForm(), MalformedAnswer(), ExpiredToken(), RefusedConnection(),
    DeadServer(), Cancel(), Timeline(), SignOut(),
  ]

  /// Plays a scene and reads back what arrived at the servers meanwhile.
  private static func play(_ scene: any Scene, in world: World) async -> [Check] {
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
    } catch {
      world.stage.say("✗ \(error)")
      return [Check(name: "scene", subject: scene.title, expected: "played to its end", arrived: "\(error)")]
    }
  }

  private static func show(_ expectations: Expectations, on stage: Stage) {
    stage.title("What arrived at the servers, read from their logs")
    for (row, line) in zip(expectations.rows, expectations.lines) { stage.row(row, line: line) }
    stage.say("")
    stage.say(expectations.summary)
  }
}
