import ApusCore
import HTTPTypes

@testable import ApusMiddleware

/// Short spellings of the values of cache tests. The instant 0 is Sun, 06 Nov 1994 08:49:37 GMT.
enum CacheWorld {
  static let epoch: Int64 = 784_111_777
  static let origin = Origin(scheme: "https", host: "a.example", port: 443)

  /// Returns an instant of the wall clock, in seconds.
  static func at(_ seconds: Int64, monotonic: Int64? = nil) -> CacheInstant {
    CacheInstant(wall: (epoch + seconds) * 1000, monotonic: monotonic.map { $0 * 1000 })
  }

  /// Returns the date of an instant in the preferred format (RFC 9110 §5.6.7).
  static func date(_ seconds: Int64) -> String {
    let time = epoch + seconds
    let days = (time - (time % 86_400 + 86_400) % 86_400) / 86_400
    let clock = time - days * 86_400
    // The days since 1 March 0000 in cycles of 400 years.
    let shifted = days + 719_468
    let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let day = shifted - cycle * 146_097
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let months = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"]
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let weekday = weekdays[Int((days % 7 + 7) % 7)]
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let calendarYear = year + cycle * 400 + (month >= 10 ? 1 : 0)
    let parts = [clock / 3600, clock / 60 % 60, clock % 60].map(padded).joined(separator: ":")
    return "\(weekday), \(padded(dayOfMonth)) \(months[Int(month)]) \(calendarYear) \(parts) GMT"
  }

  private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Returns fields from lines such as `Cache-Control: max-age=60`. `{60}` is the date of the instant 60.
  static func fields(_ lines: [String]) -> HTTPFields {
    var fields = HTTPFields()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
      fields.append(HTTPField(name: name, value: dated(String(parts[1].drop { $0 == " " }))))
    }
    return fields
  }

  private static func dated(_ text: String) -> String {
    guard let open = text.firstIndex(of: "{"), let close = text.firstIndex(of: "}"), open < close,
      let seconds = Int64(text[text.index(after: open)..<close])
    else { return text }
    return text[..<open] + date(seconds) + text[text.index(after: close)...]
  }

  static func request(
    _ method: HTTPRequest.Method = .get, path: String = "/x", _ lines: String...
  ) -> CacheRequest {
    CacheRequest(
      HTTPRequest(
        method: method, scheme: "https", authority: "a.example", path: path, headerFields: fields(lines)))
  }

  static func response(_ status: Int = 200, _ lines: String...) -> HTTPResponse {
    HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields(lines))
  }

  /// Returns a response that is stored at the instant 0.
  static func stored(
    _ response: HTTPResponse, id: UInt64 = 1, to request: CacheRequest = request(), at seconds: Int64 = 0
  ) -> StoredResponse {
    let exchange = CacheExchange(requestTime: at(seconds), responseTime: at(seconds))
    var stored = StoredResponse(response, to: request, during: exchange)
    stored.id = id
    stored.contentLength = 11
    return stored
  }

  /// Returns a 200 that is stored at the instant 0.
  static func stored(_ lines: String..., id: UInt64 = 1) -> StoredResponse {
    stored(HTTPResponse(status: .ok, headerFields: fields(lines)), id: id)
  }
}

extension CacheDecision {
  /// The stored response that is used, also while it is revalidated.
  var hit: CacheHit? {
    switch self {
    case .use(let hit), .useAndRevalidate(let hit, _): hit
    case .forward, .unsatisfiable: nil
    }
  }

  /// The request that is sent, also in the background.
  var request: CacheForward? {
    switch self {
    case .forward(let forward), .useAndRevalidate(_, let forward): forward
    case .use, .unsatisfiable: nil
    }
  }

  var isInBackground: Bool {
    if case .useAndRevalidate = self { return true }
    return false
  }
}
