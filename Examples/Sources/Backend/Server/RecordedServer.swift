import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Builds the HTTP server so that every exchange gets its row in the log.
///
/// Around the server's own responder and not a middleware: only here is known that an answer could not be written.
/// That it was written is seen by ``ConnectionHandler``.
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
            // The server answers broken HTTP itself, once this is thrown. An end in the middle of the content is no
            // such thing: the client has left, which the connection may not have been told yet.
            exchange?.answering(status: 400, contentLength: 0)
            throw error
          } catch {
            exchange?.clientLeft()
            throw error
          }
        },
        configuration: .init(additionalChannelHandlers: [ConnectionHandler(connections)]))
    }
  }

  /// Reading the log shall not change it.
  private func begin(_ request: Request, on connection: Connection?) -> Exchange? {
    if request.uri.path == LogRoutes.path { return nil }
    return Exchange(request.head, connection: connection?.number ?? 0, time: now(), log: log)
  }
}
