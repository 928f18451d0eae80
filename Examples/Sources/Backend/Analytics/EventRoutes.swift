import Foundation
import HTTPTypes

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

  private struct Event: Encodable, RowConvertible {
    let id: Int64
    let name: String

    init(row: Row) throws {
      (id, name) = (try row.get("id"), try row.get("name"))
    }
  }

  func add(to routes: inout Routes) {
    routes.on(.post, "/events") { request, _ in
      try authorize(request)
      let input = try Content.decode(Input.self, from: request)
      var validation = Validation()
      let name = validation.name("name", input.name)
      try validation.finish()
      let id = try await database.write { db in
        try db.execute("INSERT INTO events (name) VALUES (?)", [name])
        return db.lastInsertedRowID
      }
      return .json(["id": id], status: .accepted)
    }
    routes.on(.get, "/events") { request, _ in
      try authorize(request)
      let events: [Event] = try await database.read { db in
        try db.all("SELECT id, name FROM events ORDER BY id LIMIT 1000")
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
