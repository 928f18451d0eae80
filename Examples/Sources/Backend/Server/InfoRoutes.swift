import HTTPTypes
import Hummingbird

/// Which backend this is: `GET /`: `{"name": …, "films": …, "latency_ms": …}`.
struct InfoRoutes {
  let name: String
  let films: FilmStore
  let latency: Duration

  private struct Info: Encodable {
    let name: String
    let films: Int
    let latencyMs: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/") { _, _ in
      .json(Info(name: name, films: try await films.count(), latencyMs: Int(latency / .milliseconds(1))))
    }
  }
}
