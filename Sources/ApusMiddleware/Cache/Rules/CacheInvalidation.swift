import ApusCore
import HTTPTypes

/// What a response to an unsafe request invalidates at its origin (RFC 9111 §4.4, RFC 9875 §3).
struct CacheInvalidation: Hashable, Sendable {
  let origin: Origin
  /// The request targets: path and query.
  var targets: Set<String> = []
  /// The groups.
  var groups: Set<String> = []

  /// Creates an invalidation of an origin.
  init(_ origin: Origin, targets: Set<String> = [], groups: Set<String> = []) {
    (self.origin, self.targets, self.groups) = (origin, targets, groups)
  }

  /// Reads a response. `nil` for a safe method and for an error.
  ///
  /// The target of the request is invalidated, and the URLs in `Location` and `Content-Location` if they have the same
  /// origin: a response must not remove what other servers have sent. Malformed URLs are ignored.
  init?(after response: HTTPResponse, to request: HTTPRequest, at origin: Origin) {
    guard !request.method.isSafe, (200..<400).contains(response.status.code) else { return nil }
    self.origin = origin
    let target = request.path ?? "/"
    targets = [target]
    for name in [HTTPField.Name.location, .contentLocation] where response.headerFields.contains(name) {
      guard let text = response.headerFields.single(name),
        let named = try? URLReference(Array(text.utf8)[...].trimmed, relativeTo: (origin, target)),
        named.origin == origin
      else { continue }
      targets.insert(named.target)
    }
    groups = CacheGroups.groups(in: response.headerFields, CacheGroups.invalidation)
  }
}

/// The invalidations since the start of the oldest request in flight. A pure state machine.
///
/// Each invalidation raises the generation. A response to a request that was sent at an earlier generation may show the
/// state before the invalidation, whenever it arrives.
struct CacheInvalidations: Hashable, Sendable {
  private enum Subject: Hashable {
    case target(Origin, String)
    case group(Origin, String)
    /// A group that the app has invalidated at all origins.
    case everywhere(String)
  }

  /// The number of invalidations.
  private(set) var generation: UInt64 = 0
  /// The generation of the last invalidation of a subject, for those that a request in flight may need.
  private var subjects: [Subject: UInt64] = [:]
  /// The number of requests in flight by the generation at which they were sent.
  private var inFlight: [UInt64: Int] = [:]
  /// All responses to requests of earlier generations count as invalidated.
  private var floor: UInt64 = 0
  private let capacity: Int

  /// - Parameter capacity: the maximum number of recorded subjects. Beyond it all responses in flight count as
  ///   invalidated. Default: 1,024.
  init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  /// The number of recorded subjects, for tests.
  var count: Int { subjects.count }

  /// Records that a request is sent. Returns its generation, for ``end(_:)``.
  mutating func begin() -> UInt64 {
    inFlight[generation, default: 0] += 1
    return generation
  }

  /// Records that the response to a request was stored, or that there will be none.
  mutating func end(_ generation: UInt64) {
    guard let count = inFlight[generation] else { return }
    inFlight[generation] = count > 1 ? count - 1 : nil
    if inFlight.isEmpty { subjects = [:] }
  }

  /// Records what a response invalidates.
  mutating func invalidate(_ invalidation: CacheInvalidation) {
    let origin = invalidation.origin
    record(invalidation.targets.map { .target(origin, $0) } + invalidation.groups.map { .group(origin, $0) })
  }

  /// Records groups that the app invalidates at all origins.
  mutating func invalidate(groups: Set<String>) {
    record(groups.map { .everywhere($0) })
  }

  /// Records that everything is invalid.
  mutating func invalidateAll() {
    generation += 1
    floor = generation
    subjects = [:]
  }

  private mutating func record(_ invalidated: [Subject]) {
    guard !invalidated.isEmpty else { return }
    generation += 1
    guard let oldest = inFlight.keys.min() else { return }
    for subject in invalidated { subjects[subject] = generation }
    guard subjects.count > capacity else { return }
    subjects = subjects.filter { $0.value > oldest }
    guard subjects.count > capacity else { return }
    floor = generation
    subjects = [:]
  }

  /// Whether the response to a request was invalidated after the request was sent.
  ///
  /// - Parameters:
  ///   - target: the target of the request.
  ///   - groups: the groups of the response, from its endpoint and its fields.
  ///   - origin: the origin of the request.
  ///   - generation: the generation at which the request was sent.
  func isInvalidated(
    _ target: String, groups: Set<String>, at origin: Origin, sentAt generation: UInt64
  ) -> Bool {
    func isLater(_ subject: Subject) -> Bool { subjects[subject].map { $0 > generation } ?? false }
    if generation < floor { return true }
    guard !subjects.isEmpty else { return false }
    return isLater(.target(origin, target))
      || groups.contains { isLater(.group(origin, $0)) || isLater(.everywhere($0)) }
  }
}
