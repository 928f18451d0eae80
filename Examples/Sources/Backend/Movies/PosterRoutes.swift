import HTTPTypes

/// Posters, at the paths of TheMovieDB's image server. The pictures are generated: a title on a colored background.
///
/// - `GET /t/p/{size}/{file}`: `image/svg+xml`; the file is the film's `poster_path`, and no key is needed
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
    guard let size = context.parameters["size"], Self.sizes.contains(size),
      let id = context.parameters["file"].flatMap(Film.id(ofPoster:))
    else { return nil }
    return try await films.film(id)
  }
}

extension Film {
  private static let ending = ".svg"

  /// The path of the poster, relative to a size.
  var posterPath: String { "/\(id)\(Self.ending)" }

  /// Returns the id of the film that a poster file belongs to.
  static func id(ofPoster file: String) -> Int64? {
    guard file.hasSuffix(ending) else { return nil }
    return Int64(file.dropLast(ending.count))
  }

  /// The poster as SVG, which scales to any size.
  var poster: String {
    // Escaped by bytes, as browsers parse the file: a combining mark must not hide a delimiter.
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
