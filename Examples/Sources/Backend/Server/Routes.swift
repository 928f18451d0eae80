import HTTPTypes
import Logging

/// The routes of the server.
struct Routes: Sendable {
  typealias Handler = @Sendable (Request, BackendContext) async throws -> Response

  private var routes: [(template: RouteTemplate, handle: Handler)] = []
  private let logger = Logger(label: "backend")

  /// Adds a route; `{name}` in the path is a parameter.
  mutating func on(_ method: HTTPRequest.Method, _ path: String, _ handle: @escaping Handler) {
    routes.append((RouteTemplate(method, path), handle))
  }

  /// Returns the response of the route that matches a request. HEAD is supported wherever GET is.
  ///
  /// - Throws: ``ClientLeft`` when the client has disconnected. Other errors become responses.
  func respond(to request: Request, context: BackendContext) async throws -> Response {
    let method = request.method == .head ? .get : request.method
    do {
      // The template with the fewest parameters matches best: `/friends/categories` before `/friends/{id}`.
      let matching = routes.filter { $0.template.method == method && $0.template.matches(request.path) }
      guard let route = matching.min(by: { $0.template.parameters < $1.template.parameters }) else {
        throw routes.map(\.template).problem(of: request.method, path: request.path)
      }
      var context = context
      context.parameters = route.template.values(in: request.path)
      return try await route.handle(request, context)
    } catch let error as ClientLeft {
      throw error
    } catch let error as OAuthProblem {
      return error.response()
    } catch let error as MovieProblem {
      return error.response()
    } catch {
      let problem = problem(for: error)
      return MovieRoutes.owns(path: request.path) ? MovieProblem(problem).response() : problem.response()
    }
  }

  private func problem(for error: any Error) -> Problem {
    if let problem = error as? Problem { return problem }
    // Requests cancelled by the server's shutdown are not logged.
    if !Task.isCancelled { logger.error("a route failed", metadata: ["error": "\(error)"]) }
    return .internalError
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

  /// The number of parameters.
  var parameters: Int { segments.count { $0.hasPrefix("{") } }

  /// Returns the values of the parameters in a path that matches.
  func values(in path: String) -> [String: String] {
    var values: [String: String] = [:]
    for (segment, value) in zip(segments, Self.segments(of: path)) where segment.hasPrefix("{") {
      values[String(segment.dropFirst().dropLast())] = String(value)
    }
    return values
  }

  private static func segments(of path: String) -> [Substring] { path.split(separator: "/") }
}

extension [RouteTemplate] {
  /// Returns the problem of a request that matches no route.
  func problem(of method: HTTPRequest.Method, path: String) -> Problem {
    var methods: Set<HTTPRequest.Method> = []
    for template in self where template.matches(path) { methods.insert(template.method) }
    if methods.isEmpty || methods.contains(method) { return .notFound("There is nothing at this path.") }
    if methods.contains(.get) { methods.insert(.head) }
    return .methodNotAllowed(methods.map(\.rawValue).sorted())
  }
}
