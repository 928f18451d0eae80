import ApusAWS
import ApusCore
import ApusNIO
import ApusTransfers
import Foundation

extension TransfersWorker {
  /// Uploads a file to an object.
  ///
  /// - Parameters:
  ///   - place: the URL of the server, the bucket and the key, separated by spaces.
  ///   - limit: the number of bytes after which the process kills itself, because the test's process might be too late.
  static func uploadParts(_ path: String, to place: String, _ folder: String, killedAt limit: Int64) async {
    let words = place.split(separator: " ").map(String.init)
    let credentials = AWSCredentials(accessKeyID: "test:tester", secretAccessKey: "testing")
    guard words.count == 3, let url = try? BaseURL(words[0]) else {
      return printLine("error which URL, bucket and key?")
    }
    let client = Client(environment: Environment(baseURL: url), transport: NIOTransport())
    var bucket = S3(client, region: "us-east-1", credentials: credentials).bucket(words[1])
    let progress = ProgressReporter()
    bucket.options.uploadProgress = progress
    progress.observe { step in
      guard step.completed >= limit else { return }
      printLine("bytes \(step.completed)")
      kill(getpid(), SIGKILL)
    }
    do {
      let options = S3UploadOptions(store: FileTransferStore(folder))
      let result = try await bucket.upload(path, to: words[2], options: options)
      printLine("resumed \(result.resumedBytes)")
      printLine("done \(result.size)")
    } catch {
      printLine("error \(error)")
    }
  }
}
