// For samples of ApusOAuth.
import ApusOAuth

let clientKey: Secret = "-----BEGIN PRIVATE KEY-----"
let client = Client(baseURL: "https://api.example.com/v1")
let store = MemoryCredentialsStore()
var environment: Environment {
  get { client.environment }
  set { client.use(newValue) }
}
let server = AuthorizationServer(issuer: "https://id.example.com", tokenEndpoint: "https://id.example.com/token")
var oauth: OAuthClient {
  get { OAuthClient(id: "app", server: server, using: client) }
  set {}
}
func launch(_ page: String) {}
