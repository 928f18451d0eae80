import HTTPTypes
import Hummingbird

/// Which backend this is: `GET /`: `{"name": …, "films": …}`.
struct InfoRoutes {
  let name: String
  let films: FilmStore

  private struct Info: Encodable {
    let name: String
    let films: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/") { _, _ in
      .json(Info(name: name, films: try await films.count()))
    }
  }
}
