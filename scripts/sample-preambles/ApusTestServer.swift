// For samples in the documentation comments of ApusTestServer.
let gate = Gate()

let server: TestServer = { fatalError("samples are compiled, not run") }()
