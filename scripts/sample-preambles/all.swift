// What every sample of the documentation may use without declaring it. Not compiled itself: scripts/samples.py copies
// each declaration into the file of each sample that does not declare the same name.
import Apus
import Foundation

struct User: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var name: String
}

struct Movie: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var title: String
}

struct Filter: Codable, Sendable {
  var year: Int?
  var genres: [String]
}

let api = Client(baseURL: "https://api.example.com/v1")

let tokens = MemoryCredentials(token: "secret")

let me = 1

let id = 1

let page = 1

let filter = Filter(year: nil, genres: ["drama"])
