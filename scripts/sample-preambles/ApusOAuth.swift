// For samples of ApusOAuth.
import ApusOAuth

let client = Client(baseURL: "https://api.example.com/v1")
let store = MemoryCredentialsStore()
var environment: Environment {
  get { client.environment }
  set { client.use(newValue) }
}
let oauth = OAuthClient(
  id: "app",
  server: AuthorizationServer(issuer: "https://id.example.com", tokenEndpoint: "https://id.example.com/token"),
  using: client)
func launch(_ page: String) {}
