import Apus
import ApusCredentials
import ApusTesting
import Foundation
import Testing

@Suite("Reasons why a credentials file cannot be used")
struct FileReasonTests {
  @Test("The call's error states a folder that others can access, and the remedy")
  func openFolder() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-open-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = FileCredentialsStore(
      at: folder.appending(path: "credentials").path, key: .file(folder.appending(path: "key").path))
    let api = Client(baseURL: "https://api.example.com", transport: StubTransport()) {
      $0.authentication = .bearer(source)
    }
    let failed = await #expect(throws: CallError.self) { try await api.send(Request<Int>.get("/a")) }
    let text = try #require(failed).description
    #expect(
      text.hasPrefix(
        "GET /a could not be sent: the credentials could not be read: \(folder.lastPathComponent) is accessible to others"
      ),
      "\(text)")
    #expect(text.contains("a folder with chmod 700"), "\(text)")
  }
}
