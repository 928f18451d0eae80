import HTTPTypes
import Hummingbird

/// The routes of the server.
///
/// The templates are kept as well, because the router responds with 404 where 405 is correct.
struct Routes {
  typealias Handler = @Sendable (Request, BackendContext) async throws -> Response

  private(set) var templates: [RouteTemplate] = []
  private var handlers: [Handler] = []

  /// Adds a route; `{name}` in the path is a parameter.
  mutating func on(_ method: HTTPRequest.Method, _ path: String, _ handle: @escaping Handler) {
    templates.append(RouteTemplate(method, path))
    handlers.append(handle)
  }

  /// Builds the router.
  func responder() -> RouterResponder<BackendContext> {
    let router = Router(context: BackendContext.self, options: [.autoGenerateHeadEndpoints])
    router.add(middleware: ErrorMiddleware(templates: templates))
    for (template, handler) in zip(templates, handlers) {
      router.on(RouterPath(template.path), method: template.method, use: handler)
    }
    return router.buildResponder()
  }
}

/// The method and path of a route, to distinguish unknown paths (404) from unsupported methods (405).
struct RouteTemplate: Sendable {
  let method: HTTPRequest.Method
  let path: String
  private let segments: [Substring]

  init(_ method: HTTPRequest.Method, _ path: String) {
    self.method = method
    self.path = path
    segments = Self.segments(of: path)
  }

  /// Whether a request's path matches the template.
  func matches(_ path: String) -> Bool {
    let others = Self.segments(of: path)
    return others.count == segments.count
      && zip(segments, others).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
  }

  private static func segments(of path: String) -> [Substring] { path.split(separator: "/") }
}

extension [RouteTemplate] {
  /// Returns the problem of a request that no route matches.
  func problem(of method: HTTPRequest.Method, path: String) -> Problem {
    var methods: Set<HTTPRequest.Method> = []
    for template in self where template.matches(path) { methods.insert(template.method) }
    if methods.isEmpty || methods.contains(method) { return .notFound("There is nothing at this path.") }
    // The router supports HEAD wherever it supports GET.
    if methods.contains(.get) { methods.insert(.head) }
    return .methodNotAllowed(methods.map(\.rawValue).sorted())
  }
}
