import HTTPTypes

/// An account's friends; every route needs a bearer token.
///
/// - `GET /friends?page=&per_page=&category=`: `{items: [friend], page, total_pages, total_results}`
/// - `POST /friends` `{name, email?}`: 201 friend, with `Location`. Requests with the same `Idempotency-Key` within a
///   day add one friend and get the same response.
/// - `GET /friends/categories`: `{items: [{name, count}]}`
/// - `GET /friends/{id}`: friend
/// - `DELETE /friends/{id}`: 204
/// - `PUT /friends/{id}/category` `{category}`: friend
///
/// A friend is `{id, name, email, category}`; `email` and `category` may be `null`.
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
    let query = try Query(request.query)
    let wanted = PageRequest(
      number: try query.integer("page", in: 1...1_000_000, default: 1),
      size: try query.integer("per_page", in: 1...100, default: 10))
    let page = try await friends.page(wanted, category: query["category"], of: principal.account.id)
    return .json(
      Listing(items: page.items, page: page.number, totalPages: page.count, totalResults: page.total))
  }

  @Sendable
  private func create(_ request: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    let input = try Content.decode(FriendInput.self, from: request).validated()
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
    let category = try Content.decode(CategoryInput.self, from: request).validated()
    guard let id = context.id(), let friend = try await friends.put(id, in: category, of: principal.account.id) else {
      throw Self.unknown
    }
    return .json(friend)
  }

  @Sendable
  private func categories(_: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    .json(["items": try await friends.categories(of: principal.account.id)])
  }

  /// The response to unknown ids, and to ids of other accounts' friends, so that it does not reveal whether such a
  /// friend exists.
  private static let unknown = Problem.notFound("There is no such friend.")
}

/// The content of a request that adds a friend.
struct FriendInput: Decodable, Sendable {
  var name: String?
  var email: String?

  func validated() throws(Problem) -> (name: String, email: String?) {
    var check = Validation()
    let name = check.name("name", name)
    let email = email.map { check.email("email", $0) }
    try check.finish()
    return (name, email)
  }
}

/// The category of a friend; `null` for none.
struct CategoryInput: Decodable, Sendable {
  let category: String?

  private enum CodingKeys: CodingKey {
    case category
  }

  /// Rejects a missing member, which would otherwise remove the category by mistake.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    category = try container.decodeNil(forKey: .category) ? nil : container.decode(String.self, forKey: .category)
  }

  func validated() throws(Problem) -> String? {
    guard let category else { return nil }
    var check = Validation()
    let name = check.category("category", category)
    try check.finish()
    return name
  }
}
