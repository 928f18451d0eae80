import ApusCore
import ApusTesting
import Testing

@Suite("Requests as text")
struct RequestTextTests {
  private struct Filter: Encodable {
    var year = 1985
  }

  private struct GetFilm: Endpoint {
    var request: Request<Void> { .get("/films/\(7)") }
  }

  /// The value as printed, reflected and dumped text.
  private func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [String(describing: value), String(reflecting: value), dumped]
  }

  @Test("The description of a request has its endpoint type, method and template")
  func request() {
    let request = Request<Void>.post(
      "/films/\("s3cr3t")", query: ["q": "s3cr3t"], content: .json(["password": "s3cr3t"])
    ).field("X-Key", "s3cr3t")
    #expect("\(request)" == "POST /films/{}")
    #expect("\(GetFilm().tag("a"))" == "GetFilm GET /films/{}")
    for text in texts(of: request) { #expect(text.contains("POST /films/{}") && !text.contains("s3cr3t")) }
  }

  @Test("The description of a path is its template")
  func path() {
    let path: RequestPath = "/films/\("s3cr3t")/cast/\(3, "id")?key=s3cr3t"
    #expect("\(path)" == "/films/{}/cast/{id}")
    for text in texts(of: path) { #expect(text.contains("/films/{}/cast/{id}") && !text.contains("s3cr3t")) }
  }

  @Test("The description of a query has the names of its parameters, and the type of an encodable value")
  func query() {
    var query: Query = ["q": "s3cr3t", "page": nil]
    query.append(Query(Filter()))
    query.append("tag", ["s3cr3t"])
    #expect("\(query)" == "[q, page, Filter, tag]")
    for text in texts(of: query) { #expect(text.contains("[q, page, Filter, tag]") && !text.contains("s3cr3t")) }
    #expect("\([:] as Query)" == "[]")
  }

  @Test("A query that a middleware cannot encode is an encoding error with the name of the parameter")
  func middleware() async {
    let writing = Doing { request, context, next in
      let query: Query = ["filter": ["rate": Double.nan]]
      _ = try query.items(style: context.queryStyle)
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(writing, .validation)])
    let error = await bench.api.result(of: Request<Void>.get("/")).error
    #expect(error?.code == .encoding && error?.codingPath == "filter[rate]" && error?.requestState == .notSent)
    #expect(bench.stub.exchanges.isEmpty)
  }
}
