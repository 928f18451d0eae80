import HTTPTypes
import NIOCore

/// The files of films, whose bytes are generated.
///
/// - `GET /films/{id}.mp4`: `video/mp4`, 256 KiB, with a strong `ETag`; no key is needed. A single range from a byte to
///   the end, `Range: bytes=N-`, is supported: status 206, 416 if it begins after the end, or 200 if `If-Range`
///   contains another entity tag.
struct FilmContentRoutes {
  /// The size of each file in bytes.
  static let size = 256 * 1024

  let films: FilmStore

  func add(to routes: inout Routes) {
    routes.on(.get, "/films/{file}") { request, context in
      let file = context.parameters["file"] ?? ""
      guard file.hasSuffix(".mp4"), let id = Int64(file.dropLast(4)), try await films.film(id) != nil else {
        throw Problem.notFound("There is no such film.")
      }
      return Self.response(to: request.headers, film: id)
    }
  }

  /// Returns the bytes of a film's file.
  static func content(of film: Int64) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8) ^ Int(film)) }
  }

  private static func response(to fields: HTTPFields, film: Int64) -> Response {
    let tag = "\"film-\(film)\""
    let content = content(of: film)
    var headers: HTTPFields = [.contentType: "video/mp4", .eTag: tag, .acceptRanges: "bytes"]
    guard let start = start(of: fields[.range]), fields[.ifRange].map({ $0 == tag }) ?? true else {
      return Response(status: .ok, headers: headers, body: ResponseBody(ByteBuffer(bytes: content)))
    }
    guard start < size else {
      headers[.contentRange] = "bytes */\(size)"
      return Response(status: .rangeNotSatisfiable, headers: headers)
    }
    headers[.contentRange] = "bytes \(start)-\(size - 1)/\(size)"
    return Response(
      status: .partialContent, headers: headers, body: ResponseBody(ByteBuffer(bytes: content[start...])))
  }

  /// Returns the first byte of a range that extends to the end; `nil` for all other ranges, which a server may ignore
  /// (RFC 9110 §14.2).
  private static func start(of range: String?) -> Int? {
    guard let range, range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
    let digits = range.dropFirst(6).dropLast()
    return digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(digits) : nil
  }
}
