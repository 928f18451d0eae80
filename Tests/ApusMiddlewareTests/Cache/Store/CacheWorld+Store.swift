import HTTPTypes

@testable import ApusMiddleware

extension CacheWorld {
  /// Returns an update that stores a response to a request which was sent at a generation.
  static func update(
    _ lines: [String] = [], sentAt generation: UInt64 = 0, groups: Set<String> = []
  ) -> CacheUpdate {
    let exchange = CacheExchange(requestTime: at(0), responseTime: at(0), generation: generation)
    let response = HTTPResponse(status: .ok, headerFields: fields(lines))
    var stored = StoredResponse(response, to: request(), during: exchange)
    stored.endpointGroups = groups
    return CacheUpdate(new: stored)
  }
}
