import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// The HTTP server with logging of every exchange.
///
/// It wraps the server's own responder, because a middleware is not notified when a response cannot be written.
/// ``ConnectionHandler`` sees that a response was written.
struct RecordedServer: Sendable {
  let connections: Connections
  let log: ExchangeLog
  let now: @Sendable () -> Date

  var builder: HTTPServerBuilder {
    HTTPServerBuilder { respond in
      HTTP1Channel(
        responder: { request, writer, channel in
          let connection = connections[channel]
          let exchange = begin(request, on: connection)
          connection?.began(exchange)
          do {
            try await respond(request, writer, channel)
          } catch let error as HTTPParserError where error != .invalidEOFState && connection?.hasLeft == false {
            // The server responds to malformed HTTP itself. An end in the middle of the content is different: the
            // client has left, although the connection may not know yet.
            exchange?.responding(status: 400, contentLength: 0)
            throw error
          } catch let error as ConnectionCut {
            exchange?.ended()
            throw error
          } catch {
            exchange?.clientLeft()
            throw error
          }
        },
        configuration: .init(additionalChannelHandlers: [ConnectionHandler(connections)]))
    }
  }

  /// Returns `nil` for requests for the log, which are not logged.
  private func begin(_ request: Request, on connection: Connection?) -> Exchange? {
    if request.uri.path == LogRoutes.path { return nil }
    return Exchange(request.head, connection: connection?.number ?? 0, time: now(), log: log)
  }
}
