import Foundation
import GRDB
import HTTPTypes
import Hummingbird

/// Analytics events; every route needs the API key in the field `X-Api-Key`.
///
/// - `POST /events` `{name}`: 202 `{id}`
/// - `GET /events`: `{items: [{id, name}]}`, newest last
struct EventRoutes {
  let database: Database
  let apiKey: String

  private struct Input: Decodable {
    let name: String
  }

  private struct Event: Codable, FetchableRecord {
    let id: Int64
    let name: String
  }

  func add(to routes: inout Routes) {
    routes.on(.post, "/events") { request, _ in
      try authorize(request)
      let input = try await Content.decode(Input.self, from: request)
      var validation = Validation()
      let name = validation.name("name", input.name)
      try validation.finish()
      let id = try await database.pool.write { db in
        try db.execute(sql: "INSERT INTO events (name) VALUES (?)", arguments: [name])
        return db.lastInsertedRowID
      }
      return .json(["id": id], status: .accepted)
    }
    routes.on(.get, "/events") { request, _ in
      try authorize(request)
      let events = try await database.pool.read { db in
        try Event.fetchAll(db, sql: "SELECT id, name FROM events ORDER BY id LIMIT 1000")
      }
      return .json(["items": events])
    }
  }

  private func authorize(_ request: Request) throws(Problem) {
    guard let name = HTTPField.Name("X-Api-Key"), request.headers[name] == apiKey else {
      throw Problem(.forbidden, "The X-Api-Key is missing or wrong.")
    }
  }
}
