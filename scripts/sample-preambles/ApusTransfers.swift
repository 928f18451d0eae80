// For samples of ApusTransfers.
import ApusTransfers

let published = String(repeating: "0", count: 64)

let folder = "/var/films"

struct FilmFile: Endpoint, TransferEndpoint {
  let id: Int
  var request: Request<Content> { .get("/films/\(id)") }
}

struct Clip: Endpoint, TransferEndpoint {
  let path: String
  var request: Request<Void> { .post("/clips", content: .file(path)) }
}

let response = Response(value: ())
