import HTTPTypes
import Hummingbird

/// Collects the routes of all subjects.
///
/// Keeps their templates, too: the router itself answers 404 where 405 is due.
struct Routes {
  typealias Handler = @Sendable (Request, BackendContext) async throws -> Response

  private(set) var templates: [RouteTemplate] = []
  private var handlers: [Handler] = []

  /// Adds a route; `{name}` in the path is a parameter.
  mutating func on(_ method: HTTPRequest.Method, _ path: String, _ handle: @escaping Handler) {
    templates.append(RouteTemplate(method, path))
    handlers.append(handle)
  }

  /// The router, complete.
  func responder() -> RouterResponder<BackendContext> {
    let router = Router(context: BackendContext.self, options: [.autoGenerateHeadEndpoints])
    router.add(middleware: RefusalMiddleware(templates: templates))
    for (template, handler) in zip(templates, handlers) {
      router.on(RouterPath(template.path), method: template.method, use: handler)
    }
    return router.buildResponder()
  }
}
