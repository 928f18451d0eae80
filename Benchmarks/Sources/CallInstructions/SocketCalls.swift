import Apus
import ApusNIO
import Dispatch

/// Calls over sockets of loopback. The callers run on the transport's only event loop.
enum SocketCalls {
  static func run(_ version: HTTPVersion, _ count: Int) throws {
    let server = try PreparedServer()
    if version == .http2 { server.serveHTTP2(Small.text) } else { server.serveHTTP1(Small.text) }
    var options = NIOTransport.Options()
    options.eventLoops = .dedicated(1)
    options.protocols = [version]
    let transport = NIOTransport(options: options)
    guard let executor = transport.executor() else { return }
    let api = Client(baseURL: try BaseURL("http://127.0.0.1:\(server.port)/v1"), transport: transport) {
      $0.settings.runtime.executor = executor
    }
    let end = DispatchSemaphore(value: 0)
    Task(executorPreference: executor) {
      do {
        let request: Request<Small> = .get("/users/\(7)")
        for _ in 0..<count { _ = try await api.send(request) }
      } catch {
        print(error)
      }
      end.signal()
    }
    end.wait()
  }
}
