import Foundation
import Testing

/// An app's sources use Apus and none of the libraries that it is built on.
@Suite struct IsolationTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  private static let allowed: [String: Set<String>] = [
    "FriendsService": ["Apus"],
    "MoviesService": ["Apus", "ApusTransfers"],
    "AccountsService": ["Apus"],
    "NewsService": ["Apus"],
    "AnalyticsService": ["Apus"],
    "FriendsScreen": ["Apus", "FriendsService", "Observation"],
    "MoviesScreen": ["Apus", "MoviesService", "Observation", "SwiftUI"],
  ]

  /// Returns the contents of a target's files by name.
  private static func files(of target: String) throws -> [String: String] {
    let folder = sources.appendingPathComponent(target)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
      })
  }

  /// Returns a file's lines without comments.
  private static func code(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      let line = line.trimmingCharacters(in: .whitespaces)
      return line.hasPrefix("//") ? "" : line
    }
  }

  @Test("An app's targets import only Apus and their services", arguments: allowed.keys.sorted())
  func imports(target: String) throws {
    let files = try Self.files(of: target)
    #expect(!files.isEmpty)
    var found: Set<String> = []
    for line in files.values.flatMap(Self.code) {
      let words = line.split(separator: " ")
      if let index = words.firstIndex(of: "import"), index < 2 { found.insert(String(words[words.count - 1])) }
    }
    #expect(found.isSubset(of: try #require(Self.allowed[target])))
    #expect(found.contains("Apus"))
  }

  @Test("An app's sources contain no URL types, transports or Any", arguments: allowed.keys.sorted())
  func types(target: String) throws {
    let forbidden = /\b(URL|URLRequest|URLSession|HTTPRequest|HTTPResponse|HTTPURLResponse|ByteBuffer|Any|AnyObject)\b/
    for (name, text) in try Self.files(of: target) {
      for line in Self.code(text) { #expect(line.firstMatch(of: forbidden) == nil, "\(target)/\(name): \(line)") }
    }
  }

  @Test("Service protocols do not mention requests and statuses")
  func protocols() throws {
    for service in Self.allowed.keys.filter({ $0.hasSuffix("Service") }) {
      let text = try #require(try Self.files(of: service)["\(service).swift"])
      #expect(Self.code(text).contains { $0.hasPrefix("public protocol \(service)") })
      for word in ["Request", "Client", "status", "http"] {
        #expect(!Self.code(text).contains { $0.contains(word) }, "\(service) shows \(word)")
      }
    }
  }
}
