import Apus
import ApusFiles
import ApusMiddleware
import ApusTesting
import Foundation
import Testing

@testable import ApusCredentials

@Suite("Cookie files that cannot be read or written")
struct CookieFileDamageTests {
  private typealias Problem = CredentialsStoreError.Problem

  /// Runs a test with a file that contains a cookie.
  private func withFile(_ test: (CredentialsFolder, CookieServer, CookieDisk) async throws -> Void) async throws {
    try await CredentialsFolder.with { place in
      let disk = CookieDisk()
      let server = CookieServer(try place.jar(reached: disk.reached))
      try await server.set("a=1; Path=/")
      try await test(place, server, disk)
    }
  }

  @Test("A file of which a byte is changed or the end is missing is refused and stays unchanged")
  func damaged() async throws {
    try await withFile { place, _, _ in
      let whole = try place.bytes()
      for index in stride(from: 0, to: whole.count - 1, by: 3) {
        var damaged = whole
        damaged[index] ^= 0x20
        for bytes in [damaged, Array(whole[...index])] {
          try place.put(bytes)
          let problem = await place.problem()
          #expect([.unknownFormat, .wrongKeyOrDamaged, .keyKindMismatch].contains(problem), "\(index)")
          #expect(try place.bytes() == bytes)
        }
      }
      try place.put(whole)
      let problem = await place.problem()
      #expect(problem == nil)
    }
  }

  @Test("An empty file has no cookies, and is replaced if only its owner can access it")
  func empty() async throws {
    try await CredentialsFolder.with { place in
      _ = try place.jar()
      for _ in 0..<2 {
        try place.put([])
        let server = CookieServer(try place.jar())
        try await server.set("a=1; Path=/")
        #expect(try place.jar().hasContent(of: server.jar))
      }
      try place.put([])
      #expect(chmod(place.file, 0o644) == 0)
      let problem = await place.problem()
      #expect(problem == .accessibleToOthers)
    }
  }

  @Test("Without its key, or with another key, the file is refused and stays unchanged")
  func key() async throws {
    try await withFile { place, _, _ in
      let (whole, key) = (try place.bytes(), try place.bytes(place.keyFile))
      try FileManager.default.removeItem(atPath: place.keyFile)
      let missing = await place.problem()
      try place.put(Array("not a key".utf8), in: place.keyFile)
      let malformed = await place.problem()
      try place.put(Array(Data(repeating: 7, count: 32).base64EncodedString().utf8), in: place.keyFile)
      let wrong = await place.problem()
      #expect(missing == .keyMissing && malformed == .malformedKey && wrong == .wrongKeyOrDamaged)
      #expect(try place.bytes() == whole)
      try place.put(key, in: place.keyFile)
      let problem = await place.problem()
      #expect(problem == nil)
      let collision = await place.problem(key: .file(place.file))
      #expect(collision == .keyPathCollision)
    }
  }

  @Test("Credentials are not cookies, and cookies are not credentials")
  func kinds() async throws {
    try await CredentialsFolder.with { place in
      try await place.store().set(.token("token"))
      let problem = await place.problem()
      #expect(problem == .unknownFormat)
      try FileManager.default.removeItem(atPath: place.file)
      _ = try place.jar()
      let other = await reason { _ = try await place.store().current() }
      #expect(other == .unknownFormat)
    }
  }

  @Test(
    "A file or a key that others can access is refused; the folder may be accessible", arguments: [0o640, 0o604, 0o666])
  func permissions(mode: mode_t) async throws {
    try await withFile { place, server, _ in
      #expect(chmod(place.folder, 0o755) == 0)
      let folder = await place.problem()
      #expect(folder == nil)
      for path in [place.file, place.keyFile] {
        #expect(chmod(path, mode) == 0)
        let problem = await place.problem()
        #expect(problem == .accessibleToOthers)
        let notes = try await server.set("b\(path.count)=2; Path=/")
        #expect(notes.last == "cookies not saved: others can access the file: 0")
        #expect(chmod(path, 0o600) == 0)
      }
    }
  }

  @Test("A link, a folder or a pipe in place of the file is refused, and does not block")
  func noFile() async throws {
    try await withFile { place, _, _ in
      let target = place.folder + "/elsewhere"
      try FileManager.default.moveItem(atPath: place.file, toPath: target)
      #expect(symlink(target, place.file) == 0)
      let link = await place.problem()
      #expect(unlink(place.file) == 0 && mkdir(place.file, 0o700) == 0)
      let folder = await place.problem()
      #expect(rmdir(place.file) == 0 && mkfifo(place.file, 0o600) == 0)
      let pipe = await place.problem()
      #expect(link == .notAFile && folder == .notAFile && pipe == .notAFile)
      for path in ["", "/", "/tmp/", "..", "a\0b"] {
        let problem = await reason { _ = try CookieJar(file: path, key: .passphrase("a"), account: "") }
        #expect(problem == .notAFile, "\(path)")
      }
    }
  }

  @Test(
    "If the disk fails at any step, the call succeeds and says why, and the next change saves everything",
    arguments: Folder.Step.allCases)
  func failingDisk(step: Folder.Step) async throws {
    try await withFile { place, server, disk in
      let old = try place.jar()
      disk.fail(at: step)
      let notes = try await server.set("b=2; Path=/")
      #expect(
        notes == ["cookies sent: 1", "cookies stored: 1", "cookies not saved: the file is unavailable, error: 0"])
      #expect(try place.jar().hasContent(of: step == .replaced ? server.jar : old))
      #expect(server.jar.description.contains("2 cookies, in credentials, not saved: credentials cannot be written"))
      #expect("\(server.api.describe())".contains("in credentials, not saved: credentials cannot be written"))
      let sent = try await server.sent()
      #expect(sent.contains("b=2"))
      disk.fail(at: nil)
      let next = try await server.set("c=3; Path=/")
      #expect(next == ["cookies sent: 2", "cookies stored: 1"])
      #expect(try place.jar().hasContent(of: server.jar) && place.names == ["credentials"])
      #expect(!"\(server.api.describe())".contains("not saved"))
    }
  }

  @Test("A sign-out on a full disk removes the file", arguments: Folder.Step.allCases)
  func fullAtSignOut(step: Folder.Step) async throws {
    try await withFile { place, server, disk in
      disk.fail(at: step)
      try await server.api.signOut()
      #expect(!place.exists(place.file) && place.names.isEmpty)
      disk.fail(at: nil)
      #expect(try place.jar().saved.isEmpty)
    }
  }

  @Test("A file that was damaged in the meantime is not overwritten, and a sign-out fails")
  func damagedMeanwhile() async throws {
    try await withFile { place, server, _ in
      try place.put([1, 2, 3])
      let notes = try await server.set("b=2; Path=/")
      #expect(notes.last == "cookies not saved: the present file cannot be read: 0")
      #expect(try place.bytes() == [1, 2, 3])
      await #expect(throws: CredentialsStoreError.self) { try await server.api.signOut() }
      #expect(server.jar.saved.isEmpty)
      try FileManager.default.removeItem(atPath: place.file)
      try await server.set("c=3; Path=/")
      #expect(try place.jar().hasContent(of: server.jar))
    }
  }

  @Test("A jar cannot be opened where its file cannot be created, and nothing is left behind")
  func firstWrite() async throws {
    try await CredentialsFolder.with { place in
      let disk = CookieDisk()
      disk.fail(at: .written)
      #expect(throws: CookieDisk.Full.self) { try place.jar(reached: disk.reached) }
      #expect(place.names.isEmpty)
    }
  }

  @Test("Drafts of dead processes are removed when a jar is opened, and those of live processes are not")
  func drafts() async throws {
    try await withFile { place, _, _ in
      let prefix = place.folder + "/.credentials.draft-"
      for name in ["1f", "2f", "notes"] { try place.put([1], in: prefix + name) }
      let live = try #require(
        try Folder(place.folder).existing(".credentials.draft-2f", for: .reading, isPrivate: true))
      #expect(try live.lock())
      _ = try place.jar()
      #expect(place.names == [".credentials.draft-2f", ".credentials.draft-notes", "credentials"])
      live.unlock()
    }
  }

  @Test("Cookies are contained only in the sealed file, where they are unreadable, and in no description")
  func secrets() async throws {
    let secret = "s3nt1nel-SECRET"
    try await CredentialsFolder.with { place in
      let server = CookieServer(try place.jar(account: secret))
      try await server.set("\(secret)=\(secret); Path=/\(secret)")
      for name in place.names {
        let content = Data(try place.bytes(place.folder + "/" + name))
        #expect(content.range(of: Data(secret.utf8)) == nil, "\(name)")
      }
      for text in [texts(of: server.jar), texts(of: server.jar.saved), "\(server.api.describe())"] {
        #expect(!text.contains(secret))
      }
    }
  }
}
