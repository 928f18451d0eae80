// For the samples in ApusTestServer's documentation.
let gate = Gate()

let server: TestServer = { fatalError("samples are compiled, not run") }()
