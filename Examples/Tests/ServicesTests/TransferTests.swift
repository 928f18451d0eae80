import AccountsService
import Apus
import ApusTransfers
import Backend
import Foundation
import FriendsService
import MoviesService
import Testing

/// Uploads, downloads, streams and stored positions on a real server.
@Suite struct TransferTests {
  private func withFolder(_ body: (_ folder: String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
  }

  @Test("An avatar is stored as it was uploaded, and the reported progress is complete")
  func avatar() async throws {
    try await withSite { site in
      try await site.signIn()
      try await withFolder { folder in
        let image = Data(repeating: 7, count: 100_000)
        try image.write(to: URL(fileURLWithPath: "\(folder)/ada.png"))
        let progress = ProgressReporter()
        let avatar = try await site.accounts.uploadAvatar(from: "\(folder)/ada.png", progress: progress)
        #expect(progress.current.fraction == 1)
        #expect(try await site.client.send(Request<Data>.get(.url(avatar.url))) == image)
      }
    }
  }

  @Test("A download continues after a lost connection, within the same call")
  func download() async throws {
    let options = Backend.Options.testing()
    try await withSite(options) { site in
      options.cut.cut("GET /films/32710.mp4", after: 1000)
      try await withFolder { folder in
        let file = try await MovieDownloads(client: site.client).download(32710, to: "\(folder)/film.mp4")
        let content = try Data(contentsOf: URL(fileURLWithPath: file.path))
        #expect(content == Data(Backend.filmContent(32710)))
        #expect(site.backend.log.rows.map(\.range) == [nil, "bytes=1000-"])
      }
    }
  }

  @Test("The activity continues after a lost connection, without gaps and repetitions")
  func activity() async throws {
    let options = Backend.Options.testing()
    try await withSite(options) { site in
      try await site.signIn()
      options.cut.cut("GET /friends/activity", after: 120)
      var texts: [String] = []
      for try await activity in site.friends.activity() {
        texts.append(activity.text)
        if texts.count == 6 { break }
      }
      #expect(Set(texts).count == 6)
      #expect(site.backend.log.rows { $0.path == "/friends/activity" }.map(\.lastEvent) == [nil, "2"])
    }
  }

  @Test("Friends of friends are resumed at a stored page position")
  func position() async throws {
    try await withSite { site in
      try await site.signIn()
      var position: PagePosition?
      var names: [String] = []
      for limit in [2, 10] {
        var pages = 0
        for try await step in site.friends.friendsOfFriends(from: position) {
          names += step.page.items.map(\.name)
          position = step.next
          pages += 1
          if pages == limit { break }
        }
      }
      #expect(names.count == 45)
      #expect(Set(names).count == 45)
      #expect(site.backend.log.rows { $0.path == "/friends/of-friends" }.count == 5)
    }
  }
}
