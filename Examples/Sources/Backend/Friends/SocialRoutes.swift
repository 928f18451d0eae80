import Foundation
import HTTPTypes
import NIOCore

/// The activity of an account's friends, and the friends of friends; every route needs a bearer token. The data is
/// generated.
///
/// - `GET /friends/activity`: server-sent events with the data `{text}` and the ids 1 to 6, or only the ids after
///   `Last-Event-ID`; then the response stays open
/// - `GET /friends/of-friends?cursor=`: `{items: [{name}], next_cursor}`, 45 items on pages of ten; `next_cursor` is
///   `null` on the last page
struct SocialRoutes {
  private static let activities = [
    "Bruno rates The Matrix", "Chidi adds Dana", "Dana watches Brazil", "Emil joins the group sport",
    "Farah rates Contact", "Goran watches Alien",
  ]
  private static let people = FriendStore.seededNames(45)
  private static let pageSize = 10

  let gatekeeper: Gatekeeper

  private struct Listing: Encodable {
    let items: [[String: String]]
    let nextCursor: String?

    private enum CodingKeys: CodingKey {
      case items, nextCursor
    }

    /// Encodes a missing cursor as `null`.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(items, forKey: .items)
      try container.encode(nextCursor, forKey: .nextCursor)
    }
  }

  func add(to routes: inout Routes) {
    routes.on(
      .get, "/friends/activity",
      gatekeeper.guarding { request, context, _ in
        let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] } ?? "0"
        guard let last = Int(last), (0...Self.activities.count).contains(last) else {
          throw Problem.badRequest("The Last-Event-ID is not an id of this stream.")
        }
        return Self.activity(after: last, context)
      })
    routes.on(
      .get, "/friends/of-friends",
      gatekeeper.guarding { request, _, _ in try Self.page(try Query(request.query)["cursor"]) })
  }

  private static func activity(after last: Int, _ context: BackendContext) -> Response {
    let body = ResponseBody { write in
      try await write(ByteBuffer(string: "retry: 50\n\n"))
      for (id, text) in zip(1..., activities).dropFirst(last) {
        try await write(ByteBuffer(string: "id: \(id)\ndata: {\"text\": \"\(text)\"}\n\n"))
      }
      await context.connection.waitUntilLeft()
      throw ClientLeft()
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
  }

  /// A cursor is the Base64 form of the number of items before the page; clients treat it as opaque.
  private static func page(_ cursor: String?) throws(Problem) -> Response {
    let text = cursor.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
    guard let offset = Int(text ?? (cursor == nil ? "0" : "")), (0..<people.count).contains(offset) else {
      throw .invalid([FieldError(field: "cursor", message: "must be a cursor of this list")])
    }
    let end = min(offset + pageSize, people.count)
    let next = end < people.count ? Data("\(end)".utf8).base64EncodedString() : nil
    return .json(Listing(items: people[offset..<end].map { ["name": $0] }, nextCursor: next))
  }
}
