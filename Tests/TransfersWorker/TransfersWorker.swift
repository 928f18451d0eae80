#if NIO && Transfers
import ApusCore
import ApusNIO
import ApusTransfers
import Foundation

/// A process that downloads a file for a test, which may kill it at any time.
///
///     TransfersWorker download URL FILE     downloads the file, and says how many bytes of it there are
///     TransfersWorker limited URL FILE SIZE the same; the system permits no file with more bytes than SIZE
///
/// Each line is a word and a value: `bytes 1048576` for progress, at last `resumed 0` and `done 5000000`, or `error` with
/// a description.
@main
struct TransfersWorker {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { return say("error which URL, and which file?") }
    if arguments[1] == "limited", arguments.count > 4, let size = UInt64(arguments[4]) { limitFiles(to: size) }
    do {
      let api = Client(environment: Environment(baseURL: "http://127.0.0.1"), transport: NIOTransport())
      let request = Request<Content>.get(.url(arguments[2]))
      let file = try await api.download(request, to: arguments[3], DownloadOptions()) { completed, _ in
        say("bytes \(completed)")
      }
      say("resumed \(file.resumed)")
      say("done \(file.size)")
    } catch {
      say("error \(error)")
    }
  }

  /// Makes writes beyond a size fail, as on a full disk.
  private static func limitFiles(to size: UInt64) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
    #if canImport(Glibc)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
    setrlimit(RLIMIT_FSIZE, &limit)
    #endif
  }

  /// Unbuffered, unlike `print`: the test waits for each line.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
#else
/// Without sockets there is nothing to do.
@main
enum TransfersWorker {
  static func main() {}
}
#endif
