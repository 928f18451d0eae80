#if os(Linux)
import Apus
import ApusTransfers
import Foundation
import Testing

/// Downloads from a server that computes entity tags from a file's size and modification date.
@Suite("nginx: downloads", .needs(.nginx))
struct NginxDownloadTests {
  /// A file on the server that only this test uses, and a folder for downloaded files.
  private struct Place {
    let source: URL
    let path: RequestPath
    let target: String

    init(_ nginx: RealServer) {
      let name = "download-\(UUID().uuidString)"
      source = nginx.folder.appending(path: "files/\(name)")
      path = RequestPath(stringLiteral: "/slow/files/\(name)")
      target = FileManager.default.temporaryDirectory.path + "/\(name)"
    }

    func write(_ data: Data, modified: Double) throws {
      try data.write(to: source)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: modified)], ofItemAtPath: source.path)
    }

    func remove() {
      for path in [source.path, target, target + ".apus-part", target + ".apus-part.json"] {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }

  private static func film(_ seed: Int) -> Data {
    Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251 &+ seed) })
  }

  /// Downloads until some bytes have arrived, and then cancels.
  private func interrupt(_ place: Place, by api: Client) async throws {
    let progress = ProgressReporter()
    let request = Request<Content>.get(place.path).downloadProgress(progress)
    let download = Task { try await api.download(request, to: place.target) }
    for await step in progress where step.completed > 500_000 {
      download.cancel()
      break
    }
    _ = await download.result
  }

  @Test("An interrupted download continues with a range, over each transport", arguments: Wire.allCases)
  func continued(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    let place = Place(nginx)
    defer { place.remove() }
    try place.write(Self.film(1), modified: 1_700_000_000)
    try await withClient(try nginx.url(), over: wire) { api in
      try await interrupt(place, by: api)
      let kept = try #require(FileManager.default.contents(atPath: place.target + ".apus-part")?.count)
      // On a very slow machine the download may have completed, which leaves nothing to continue.
      try #require(kept > 0 && kept < 8_000_000)
      let file = try await api.download(place.path, to: place.target)
      #expect(file.resumedBytes == Int64(kept) && file.status == 206)
      #expect(try Data(contentsOf: URL(filePath: place.target)) == Self.film(1))
    }
  }

  @Test("A file that has changed since the interruption has another entity tag, and is downloaded completely")
  func changed() async throws {
    let nginx = try await RealServer.nginx.value
    let place = Place(nginx)
    defer { place.remove() }
    try place.write(Self.film(1), modified: 1_700_000_000)
    try await withClient(try nginx.url()) { api in
      try await interrupt(place, by: api)
      try place.write(Self.film(2), modified: 1_700_000_100)
      let file = try await api.download(place.path, to: place.target)
      #expect(file.resumedBytes == 0 && file.status == 200)
      #expect(try Data(contentsOf: URL(filePath: place.target)) == Self.film(2))
    }
  }

  @Test("Several parallel ranges result in the same file; an existing file is not changed")
  func ranges() async throws {
    let nginx = try await RealServer.nginx.value
    let place = Place(nginx)
    defer { place.remove() }
    try place.write(Self.film(3), modified: 1_700_000_000)
    try await withClient(try nginx.url()) { api in
      var options = DownloadOptions()
      options.maximumParallelRanges = 4
      let file = try await api.download(place.path, to: place.target, options: options)
      #expect(file.size == 8_000_000)
      #expect(try Data(contentsOf: URL(filePath: place.target)) == Self.film(3))
      await #expect(throws: CallError.self) { try await api.download(place.path, to: place.target, options: options) }
    }
  }
}
#endif
