import HTTPTypes

/// A route's method and path, to tell "no such resource" from "not with this method".
struct RouteTemplate: Sendable {
  let method: HTTPRequest.Method
  let path: String
  private let segments: [Substring]

  init(_ method: HTTPRequest.Method, _ path: String) {
    self.method = method
    self.path = path
    segments = Self.segments(of: path)
  }

  /// Whether a request's path is one of this template's.
  func matches(_ path: String) -> Bool {
    let others = Self.segments(of: path)
    return others.count == segments.count
      && zip(segments, others).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
  }

  private static func segments(of path: String) -> [Substring] { path.split(separator: "/") }
}

extension [RouteTemplate] {
  /// Why no route took the request.
  func refusal(of method: HTTPRequest.Method, path: String) -> Problem {
    var methods: Set<HTTPRequest.Method> = []
    for template in self where template.matches(path) { methods.insert(template.method) }
    if methods.isEmpty || methods.contains(method) { return .notFound("There is nothing at this path.") }
    // The router answers HEAD wherever it answers GET.
    if methods.contains(.get) { methods.insert(.head) }
    return .methodNotAllowed(methods.map(\.rawValue).sorted())
  }
}
