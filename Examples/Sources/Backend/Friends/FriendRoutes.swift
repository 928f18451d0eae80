import HTTPTypes
import Hummingbird

/// An account's friends; every route needs a bearer token.
///
/// - `GET /friends?page=&per_page=&category=`: `{items: [friend], page, total_pages, total_results}`
/// - `POST /friends` `{name, email?}`: 201 friend, with `Location`; with an `Idempotency-Key` however often it comes
///   within a day: one friend, the same answer
/// - `GET /friends/categories`: `{items: [{name, count}]}`
/// - `GET /friends/{id}`: friend
/// - `DELETE /friends/{id}`: 204
/// - `PUT /friends/{id}/category` `{category}`: friend
///
/// A friend is `{id, name, email, category}`; the last two may be `null`.
struct FriendRoutes {
  let friends: FriendStore
  let gatekeeper: Gatekeeper

  private struct Listing: Encodable {
    let items: [Friend]
    let page: Int
    let totalPages: Int
    let totalResults: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/friends", gatekeeper.guarding(list))
    routes.on(.post, "/friends", gatekeeper.guarding(create))
    routes.on(.get, "/friends/categories", gatekeeper.guarding(categories))
    routes.on(.get, "/friends/{id}", gatekeeper.guarding(show))
    routes.on(.delete, "/friends/{id}", gatekeeper.guarding(remove))
    routes.on(.put, "/friends/{id}/category", gatekeeper.guarding(categorise))
  }

  @Sendable
  private func list(_ request: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    let query = try Query(request.uri.query)
    let wanted = PageRequest(
      number: try query.integer("page", in: 1...1_000_000, default: 1),
      size: try query.integer("per_page", in: 1...100, default: 10))
    let page = try await friends.page(wanted, category: query["category"], of: principal.account.id)
    return .json(
      Listing(items: page.items, page: page.number, totalPages: page.count, totalResults: page.total))
  }

  @Sendable
  private func create(_ request: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    let input = try await Content.decode(FriendInput.self, from: request).validated()
    let key = try IdempotencyKey.of(request.headers)
    let friend = try await friends.add(name: input.name, email: input.email, key: key, to: principal.account.id)
    var response = Response.json(friend, status: .created)
    response.headers[.location] = "/friends/\(friend.id)"
    return response
  }

  @Sendable
  private func show(_: Request, _ context: BackendContext, _ principal: Principal) async throws -> Response {
    guard let id = context.id(), let friend = try await friends.friend(id, of: principal.account.id) else {
      throw Self.unknown
    }
    return .json(friend)
  }

  @Sendable
  private func remove(_: Request, _ context: BackendContext, _ principal: Principal) async throws -> Response {
    guard let id = context.id(), try await friends.remove(id, of: principal.account.id) else { throw Self.unknown }
    return .noContent
  }

  @Sendable
  private func categorise(
    _ request: Request, _ context: BackendContext, _ principal: Principal
  ) async throws -> Response {
    let category = try await Content.decode(CategoryInput.self, from: request).validated()
    guard let id = context.id(), let friend = try await friends.put(id, in: category, of: principal.account.id) else {
      throw Self.unknown
    }
    return .json(friend)
  }

  @Sendable
  private func categories(_: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    .json(["items": try await friends.categories(of: principal.account.id)])
  }

  /// The same for a friend of somebody else: that there is one is nobody's business.
  private static let unknown = Problem.notFound("There is no such friend.")
}
