import HTTPTypes
import Hummingbird

/// Posters, under the paths that TheMovieDB has for images on a host of its own. They are drawn: a title on a coloured
/// sheet.
///
/// - `GET /t/p/{size}/{file}`: `image/svg+xml`; the file is what `poster_path` says, and no key is needed
struct PosterRoutes {
  private static let sizes: Set = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]

  let films: FilmStore

  func add(to routes: inout Routes) {
    routes.on(.get, "/t/p/{size}/{file}") { _, context in
      guard let film = try await filmOfPoster(context) else { throw Problem.notFound("There is no such image.") }
      return .text(film.poster, type: "image/svg+xml")
    }
  }

  private func filmOfPoster(_ context: BackendContext) async throws -> Film? {
    guard let size = context.parameters.get("size"), Self.sizes.contains(size),
      let id = context.parameters.get("file").flatMap(Film.id(ofPoster:))
    else { return nil }
    return try await films.film(id)
  }
}

extension Film {
  private static let ending = ".svg"

  /// Where its poster is, below a size.
  var posterPath: String { "/\(id)\(Self.ending)" }

  /// The number of the film that a poster's file belongs to.
  static func id(ofPoster file: String) -> Int64? {
    guard file.hasSuffix(ending) else { return nil }
    return Int64(file.dropLast(ending.count))
  }

  /// Its poster in SVG, which has any size.
  var poster: String {
    // By bytes: a browser reads the file as bytes, and a combining mark hides no delimiter from it.
    let escaped = title.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "&"): Array("&amp;".utf8)
      case UInt8(ascii: "<"): Array("&lt;".utf8)
      default: [byte]
      }
    }
    let title = String(decoding: escaped, as: UTF8.self)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 300">
        <rect width="200" height="300" fill="hsl(\(id % 360), 40%, 30%)"/>
        <text x="100" y="150" fill="white" text-anchor="middle" textLength="180">\(title)</text>
      </svg>
      """
  }
}
