#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Synchronization
import Testing

/// Content larger than the permitted memory. The tests run one after another, so that each measures only its own
/// memory.
@Suite("nginx: large files", .needs(.nginx), .serialized)
struct LargeFileTests {
  /// The permitted growth of memory in bytes: more than reading needs, but much less than the file. With the address
  /// sanitizer there is no limit, because it keeps freed memory for a while.
  private static let memory = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 128 << 20 : Int.max

  /// Reads the large file. Returns its hash, and the growth of the process's memory during the read.
  private func read(by client: Client, length: Int64) async throws -> (checksum: Checksum, growth: Int) {
    let before = try residentBytes()
    return try await client.withResponse(to: message(.get, "/files/big")) { response in
      var (checksum, most, pieces) = (Checksum(), before, 0)
      #expect(response.expectedLength == length)
      while let piece = try await response.next() {
        checksum.add(piece)
        pieces += 1
        if pieces % 64 == 0 { most = max(most, try residentBytes()) }
      }
      return (checksum, most - before)
    }
  }

  @Test("256 MiB are read completely, with little memory", arguments: ["plain", "tls13"])
  func download(port: String) async throws {
    let nginx = try await RealServer.nginx.value
    let authority = try nginx.file("ca.pem")
    let url = port == "plain" ? try nginx.url() : "https://localhost:\(try nginx.port(port))"
    try await withClient(url) {
      $0.trust.additionalTrustRoots = [authority]
    } body: { client in
      var growths: [Int] = []
      // Other tests in this process may allocate memory during a round, so the measurement is repeated.
      repeat {
        let (checksum, growth) = try await read(by: client, length: nginx.big.length)
        #expect(checksum.length == nginx.big.length)
        #expect(checksum.value == nginx.big.checksum)
        growths.append(growth)
      } while growths.count < 4 && growths.last ?? 0 > Self.memory
      #expect(growths.last ?? 0 < Self.memory, "\(growths.map { $0 >> 20 }) MiB more")
    }
  }

  @Test("The end of a large file can be requested separately")
  func end() async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url()) { client in
      let start = nginx.big.length - (16 << 20)
      let part = try await client.send(message(.get, "/files/big").field("Range", "bytes=\(start)-\(start + 255)"))
      #expect(part.data == Data(0...255))
    }
  }

  @Test(
    "A file of 64 MiB is stored unchanged, directly and through another server, with a length and in chunks",
    arguments: ["/stored/", "/behind/stored/"])
  func upload(place: String) async throws {
    let nginx = try await RealServer.nginx.value
    let (name, file) = (UUID().uuidString, nginx.folder.appending(path: "upload-\(UUID())"))
    let piece = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
    var expected = Checksum()
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    for _ in 0..<64 {
      expected.add(piece)
      try handle.write(contentsOf: piece)
    }
    try handle.close()
    let chunks = ContentStream(isReplayable: false) {
      let left = Mutex(64)
      return {
        left.withLock {
          $0 -= 1
          return $0 >= 0
        } ? piece : nil
      }
    }
    try await withClient(try nginx.url()) { client in
      for (suffix, content) in [("a", RequestContent.file(file.path)), ("b", .stream(chunks))] {
        let path = RequestPath(stringLiteral: "\(place)\(name)-\(suffix)")
        let response = try await client.response(to: message(.put, path).content(content))
        #expect(response.head.status.code == 201)
        var stored = Checksum()
        stored.add(try nginx.file("stored/\(name)-\(suffix)"))
        #expect((stored.length, stored.value) == (expected.length, expected.value))
      }
    }
  }
}
#endif
