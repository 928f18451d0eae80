import Testing

@testable import Demo

@Suite struct BucketServerTests {
  @Test("The server's address is read from the line that the script prints")
  func ready() throws {
    let line = #"ready {"ports": {"plain": 8333}, "folder": "/tmp/a"}"#
    #expect("\(try BucketServer.address(in: line))" == "http://127.0.0.1:8333")
  }

  @Test(
    "A line without an address is reported as the reason why the server did not start",
    arguments: [
      ("failed seaweedfs is not installed", "seaweedfs is not installed"), ("failed ", "it has ended"),
      ("", "it has ended"), ("Traceback", "Traceback"), (#"ready {"ports": {}}"#, "it has named no port"),
    ])
  func failed(line: String, reason: String) {
    let error = #expect(throws: BucketServer.NotStarted.self) { try BucketServer.address(in: line) }
    #expect(error?.reason == reason)
  }

  @Test("Without an installation no server is started")
  func missing() {
    #expect(BucketServer(of: "/nowhere") == nil)
  }
}
