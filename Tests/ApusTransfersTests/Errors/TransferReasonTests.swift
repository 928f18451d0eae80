import Testing

@testable import ApusTransfers

@Suite("Reasons of failed transfers")
struct TransferReasonTests {
  @Test(
    "Each problem has its reason and its description",
    arguments: [
      (.folderMissing, .invalidPath, "the folder does not exist"),
      (.isFolder, .invalidPath, "the path is that of a folder"),
      (.readOnlyFileSystem, .permissionDenied, "the file system is read-only"),
      (.system(5), .fileSystem, "the file system failed (Input/output error)"),
      (.contentChanged, .fileUnreadable, "the file to send was changed"),
      (.contentTooSmall(minimum: 7), .sizeLimit, "the server accepts at least 7 bytes"),
      (.unstable, .invalidResponse, "the file on the server changed repeatedly during the download"),
      (.uploadGone, .responseLost, "the server no longer has the upload"),
      (.notReplayable, .invalidRequest, "the content can be read only once"),
      (.closed, .notQueued, "the queue of transfers is closed"),
    ] as [(TransferError.Problem, TransferError.Reason, String)])
  func kinds(problem: TransferError.Problem, reason: TransferError.Reason, text: String) {
    let error = TransferError(problem)
    #expect(error.reason == reason && error.cause == text && error.description.hasPrefix(text))
  }
}
