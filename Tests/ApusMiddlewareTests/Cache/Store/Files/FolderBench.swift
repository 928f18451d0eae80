#if os(Linux) || os(macOS)
import ApusCore
import Foundation
import Synchronization

@testable import ApusMiddleware

/// A folder for the stores of a test, with a clock that the test moves.
final class FolderBench: Sendable {
  let path: String
  private let time = Mutex<Int64>(Int64(Date().timeIntervalSince1970 * 1000))

  private init() {
    path = FileManager.default.temporaryDirectory.path + "/apus-cache-\(UUID())"
  }

  static func with(_ test: (FolderBench) async throws -> Void) async throws {
    let bench = FolderBench()
    defer { try? FileManager.default.removeItem(atPath: bench.path) }
    try await test(bench)
  }

  // MARK: Store

  /// Returns a store of its own, as another process would have.
  func store(capacity: Int64 = 1 << 20) -> FolderStore {
    FolderStore(path, capacity: capacity) { [self] in time.withLock { $0 } }
  }

  func advance(_ milliseconds: Int64) {
    time.withLock { $0 += milliseconds }
  }

  /// The target of a request and its account.
  struct Target: ExpressibleByStringInterpolation {
    let path: String
    var account: UInt64?

    init(stringLiteral path: String) {
      self.path = path
    }

    static func account(_ account: UInt64?, _ path: String = "/x") -> Target {
      var target = Target(stringLiteral: path)
      target.account = account
      return target
    }
  }

  func key(_ store: FolderStore, _ target: Target = "/x") async -> CacheKey {
    let subjects = await store.subjects() ?? CacheSubjects(key: DigestKey(first: 0, second: 0))
    return CacheKey(
      target: subjects.target(target.path, at: CacheWorld.origin), account: target.account,
      session: KeyedDigest(first: 0, second: 0))
  }

  /// Stores a response. Returns whether it was stored.
  @discardableResult
  func put(
    _ store: FolderStore, _ target: Target = "/x", _ update: CacheUpdate = CacheWorld.update(),
    _ content: String? = "content"
  ) async -> Bool {
    let key = await key(store, target)
    return await store.apply(update, content: content.map { Data($0.utf8) }, under: key, at: CacheWorld.origin)
  }

  /// Stores a response for the path `/x`.
  @discardableResult
  func put(_ store: FolderStore, _ update: CacheUpdate, _ content: String? = "content") async -> Bool {
    await put(store, "/x", update, content)
  }

  /// Returns the contents that are stored for a target; `*` after those that must be validated.
  func texts(_ store: FolderStore, _ target: Target = "/x") async -> Set<String> {
    let entries = await store.entries(for: key(store, target))
    var texts: Set<String> = []
    for response in entries.responses {
      guard let content = await store.content(of: response.id, in: entries) else { continue }
      texts.insert(String(decoding: content, as: UTF8.self) + (response.isInvalidated ? "*" : ""))
    }
    return texts
  }

  // MARK: Files

  /// The names of all files.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// The names of the entries' files.
  var entries: [String] { names.filter { $0.count == 108 } }

  func file(_ name: String) -> String { path + "/" + name }

  func bytes(_ name: String) -> [UInt8] {
    FileManager.default.contents(atPath: file(name)).map { [UInt8]($0) } ?? []
  }

  /// Replaces a file, with access for its owner only.
  func write(_ bytes: [UInt8], _ name: String) {
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    _ = FileManager.default.createFile(atPath: file(name), contents: Data(bytes), attributes: attributes)
  }

  /// The seconds since the modification time of a file.
  func age(_ name: String) -> Double {
    let date = (try? FileManager.default.attributesOfItem(atPath: file(name)))?[.modificationDate] as? Date
    return -(date?.timeIntervalSinceNow ?? -.infinity)
  }

  func setAge(of name: String, _ seconds: Double) {
    let date = Date(timeIntervalSinceNow: -seconds)
    try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file(name))
  }

  func mode(_ name: String = "") -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: file(name)))?[.posixPermissions] as? Int
  }
}
#endif
