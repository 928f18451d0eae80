import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// The avatars of accounts, in memory.
///
/// Backends with the same object serve the same avatars, as an API and its content delivery network (CDN) do.
public final class Avatars: Sendable {
  struct Image: Sendable {
    let mediaType: String
    let content: Data
  }

  private let images = Mutex<[Int64: Image]>([:])

  /// Creates an object without avatars.
  public init() {}

  /// Returns or replaces the avatar of an account.
  subscript(account: Int64) -> Image? {
    get { images.withLock { $0[account] } }
    set { images.withLock { $0[account] = newValue } }
  }
}

/// The routes of avatars.
///
/// - `POST /avatars`: a form (`multipart/form-data`) with an image, at most 1 MiB, in the part `image`; needs a bearer
///   token: 201 `{"url": …}`, a complete URL, possibly of another server
/// - `GET /avatars/{id}`: the image of an account; needs no token
struct AvatarRoutes {
  /// The maximum number of bytes of a form.
  private static let limit = 1024 * 1024

  let avatars: Avatars
  /// The server's address in the avatars' URLs; `nil` for the address to which the client sends its request.
  let address: String?
  let gatekeeper: Gatekeeper

  func add(to routes: inout Routes) {
    routes.on(.post, "/avatars", gatekeeper.guarding(upload))
    routes.on(.get, "/avatars/{id}") { _, context in
      guard let id = context.id(), let image = avatars[id] else { throw Problem.notFound("There is no such avatar.") }
      return Response(
        status: .ok, headers: [.contentType: image.mediaType],
        body: ResponseBody(ByteBuffer(bytes: image.content)))
    }
  }

  @Sendable
  private func upload(_ request: Request, _: BackendContext, _ principal: Principal) async throws -> Response {
    guard let boundary = MultipartForm.boundary(in: request.headers[.contentType]) else {
      throw Problem(.unsupportedMediaType, "The content must be multipart/form-data.")
    }
    let parts = try MultipartForm.parts(of: try request.content(upTo: Self.limit), boundary: boundary)
    guard let image = parts.first(where: { $0.name == "image" }), image.mediaType?.hasPrefix("image/") == true else {
      throw Problem.invalid([FieldError(field: "image", message: "must be an image")])
    }
    let id = principal.account.id
    avatars[id] = Avatars.Image(mediaType: image.mediaType ?? "", content: image.content)
    let address = address ?? "http://\(request.head.authority ?? "")"
    return .json(["url": "\(address)/avatars/\(id)"], status: .created)
  }
}
