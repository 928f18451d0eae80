import Crypto
import Synchronization

/// The computation of digests over bytes that arrive in pieces.
///
/// The state is behind a lock because pieces are hashed on the thread that writes them.
final class DigestStream: Sendable {
  private struct State {
    var sha256: SHA256?
    var sha512: SHA512?
  }

  private let state: Mutex<State>

  /// - Parameter algorithms: the algorithms to compute. An empty sequence costs nothing.
  init(_ algorithms: some Sequence<FileDigest.Algorithm>) {
    let algorithms = Set(algorithms)
    state = Mutex(
      State(
        sha256: algorithms.contains(.sha256) ? SHA256() : nil, sha512: algorithms.contains(.sha512) ? SHA512() : nil))
  }

  /// Whether any digest is computed.
  var isNeeded: Bool { state.withLock { $0.sha256 != nil || $0.sha512 != nil } }

  func update(_ bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.sha256?.update(bufferPointer: bytes)
      state.sha512?.update(bufferPointer: bytes)
    }
  }

  /// The digests of the bytes so far.
  var digests: [FileDigest] {
    FileDigest.Algorithm.allCases.compactMap { algorithm in
      bytes(algorithm).flatMap { FileDigest(algorithm, $0) }
    }
  }

  /// Whether the bytes so far have this digest. `nil` if the digest's algorithm is not computed.
  func matches(_ digest: FileDigest) -> Bool? {
    bytes(digest.algorithm).map { digest.matches($0) }
  }

  private func bytes(_ algorithm: FileDigest.Algorithm) -> [UInt8]? {
    state.withLock { state in
      switch algorithm {
      case .sha256: state.sha256.map { [UInt8]($0.finalize()) }
      case .sha512: state.sha512.map { [UInt8]($0.finalize()) }
      }
    }
  }
}
