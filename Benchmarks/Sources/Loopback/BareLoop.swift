import Foundation
import Samples

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The hand-written alternative: a URL, a data task, a status check, a decoder.
struct BareLoop: Sendable {
  private let session: URLSession
  private let base: String
  private let decoder = JSONDecoder()

  init(port: Int) throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    session = URLSession(configuration: configuration)
    base = "http://127.0.0.1:\(port)"
  }

  func call() async throws -> Person {
    guard let url = URL(string: "\(base)/users/7") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    let data: Data = try await withCheckedThrowingContinuation { waiter in
      let task = session.dataTask(with: request) { data, response, error in
        if let data, (response as? HTTPURLResponse)?.statusCode == 200 {
          waiter.resume(returning: data)
        } else {
          waiter.resume(throwing: error ?? URLError(.badServerResponse))
        }
      }
      task.resume()
    }
    return try decoder.decode(Person.self, from: data)
  }
}
