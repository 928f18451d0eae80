import Apus
import ApusTesting

/// A screen on a slow link requests 200 images. A tenth of a second later it requests the list, which it must display
/// first.
///
/// The link has a bandwidth of 100 kB/s and a latency of 150 ms in each direction; an image has 12 kB, the list 8 kB.
/// The client has the preset for apps: 5 concurrent calls to one server.
struct HeldImages: Scenario {
  /// The app's way to prefer the list.
  enum Arrangement: String, Sendable, CaseIterable {
    /// No preference: calls run in order of arrival.
    case none
    /// High priority for the list, low priority for the images.
    case priorities
    /// The images are held until the list has arrived.
    case hold
  }

  let name: String

  private static let images = 200
  // These times are in seconds.
  private static let listAsked = 0.1
  private static let end = 30.0
  private static let step = 0.5

  func run(seed: UInt64) async throws -> Outcome {
    var outcome = Outcome(name, step: Self.step)
    for arrangement in Arrangement.allCases {
      let report = try await simulate(arrangement, seed: seed)
      outcome.add(report)
      let images = report.seconds(of: "image")
      outcome.draw("images \(arrangement.rawValue)", images.counted(every: Self.step, until: Self.end))
      outcome.note(arrangement.rawValue, "list", report.seconds(of: "list").first.map { $0 - Self.listAsked })
      outcome.note(arrangement.rawValue, "first image", images.first)
      outcome.note(arrangement.rawValue, "all images", images.count == Self.images ? images.last : nil)
    }
    return outcome
  }

  private func simulate(_ arrangement: Arrangement, seed: UInt64) async throws -> SimulationReport {
    try await Simulation(seed: seed).run { world in
      let scheduler = Scheduler(.app)
      let api = client(scheduler, in: world)
      if arrangement == .hold { scheduler.pause("images") }
      for number in 0..<Self.images {
        let image = Request<Void>.method(.get, "/images/\(number)").tag("images")
        world.spawn {
          let call = arrangement == .priorities ? image.priority(.low) : image
          if (try? await api.send(call)) != nil { world.note("image") }
        }
      }
      try await world.sleep(for: .seconds(Self.listAsked))
      let list = Request<Void>.method(.get, "/list")
      let call = arrangement == .priorities ? list.priority(.high) : list
      if (try? await api.send(call)) != nil { world.note("list") }
      scheduler.resume("images")
    }
  }

  private func client(_ scheduler: Scheduler, in world: SimulatedWorld) -> Client {
    let server = world.server("api.example.com") {
      $0.serviceTime = .constant(.milliseconds(20))
      $0.respond = { .bytes($0.target == "/list" ? 8_000 : 12_000) }
    }
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.apply(.app)
    configuration.scheduler = scheduler
    configuration.settings = world.settings(configuration.settings)
    let link = SimulatedLink(latency: .constant(.milliseconds(150)), bandwidth: 100_000)
    return Client(configuration: configuration, transport: world.transport(over: link))
  }
}
