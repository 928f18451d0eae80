package import ApusCore
import HTTPTypes

/// The shortcut of the cache: without a frame in the pipeline it answers plain requests with fresh responses that are in
/// memory, and forwards those for which nothing is stored.
extension CacheMiddleware: ShortcutMiddleware {
  private static let plainMiss = TraceEvent.Kind.cache(CacheStatus(forward: .uriMiss))

  package func begin(_ request: RequestMessage, _ context: CallContext) -> Shortcut {
    guard !context.hasEnvironmentValues, request.head.method == .get,
      request.content.isEmpty, context.delivery != .described, CacheSession.isPlain(request.head.headerFields),
      !context.values.contains(CacheSettingsKey.self) || context.values[CacheSettingsKey.self].isPlain,
      let origin = context.baseOrigin
    else { return .pass }
    switch found(for: request.target, at: origin) {
    case .began(let generation): return .skip(generation)
    case .found(let entries): return result(of: request, context, in: entries)
    case nil: return .pass
    }
  }

  /// Returns what is stored for a request without credentials; `nil` if finding it takes longer.
  private func found(for target: String, at origin: Origin) -> CacheStore.Found? {
    switch cache.store {
    case .memory(let store):
      return store.entriesOrBegin(.plain(target, at: origin, store.subjects))
    case .folder(let store):
      guard !CacheSession.hasCredentials(inQuery: target), let subjects = store.openSubjects else { return nil }
      return store.entriesOrBegin(.plain(target, at: origin, subjects))
    }
  }

  private func result(of request: RequestMessage, _ context: CallContext, in entries: CacheEntries) -> Shortcut {
    let usable = entries.responses.usable(in: context)
    guard
      case .use(let hit) = cache.rules.decision(
        for: CacheRequest(request.head), among: usable, at: cache.instant(context)),
      hit.form == .whole, let data = entries.content(of: hit.stored.id), data.count <= context.contentLimit
    else { return .pass }
    return .response(cache.response(hit, data, hit.cacheStatus, to: context))
  }

  package func end(_ generation: UInt64?, _ response: ResponseMessage, _ context: CallContext) -> Bool {
    guard generation != nil else {
      return cache.store.isIdle || context.method.isSafe || context.values.contains(CacheSettingsKey.self)
        || context.delivery == .described
    }
    guard response.isMarkedNoStore else { return false }
    cache.store.end()
    context.recordWithLast(Self.plainMiss)
    return true
  }

  package func fail(_ generation: UInt64) {
    cache.store.end()
  }

  package func finish(
    _ response: ResponseMessage, to request: RequestMessage, _ context: CallContext, _ skip: Skip
  ) async throws -> ResponseMessage {
    guard let generation = skip.number else {
      await unsafeCallEnded(request, response, context)
      return response
    }
    let exchange = CachedExchange(cache, request, (context, context.values[CacheSettingsKey.self]), skip.next)
    guard let lookup = try await exchange.lookup() else {
      cache.store.end()
      return response
    }
    return try await exchange.received(response, nil, generation, lookup)
  }
}

extension CacheKey {
  /// Returns the key of a request without credentials of any kind.
  fileprivate static func plain(_ target: String, at origin: Origin, _ subjects: CacheSubjects) -> CacheKey {
    CacheKey(target: subjects.target(target, at: origin), account: nil, session: CacheSession.noDigest)
  }
}

extension CacheSettings {
  /// Whether the settings concern only what is stored.
  fileprivate var isPlain: Bool { mode == nil && !isRevalidation && invalidatedGroups.isEmpty }
}
