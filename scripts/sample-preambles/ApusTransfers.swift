// For samples of ApusTransfers.
import ApusTransfers

let published = String(repeating: "0", count: 64)

let folder = "/var/films"

let response = Response(value: ())
