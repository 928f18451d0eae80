import AccountsService
public import Apus
import ApusCredentials
import FriendsService

/// The friends app on a device that several users share: it has friends to show when it starts without a network.
///
/// Each account has a session in an encrypted file. The stored responses of all accounts are in one folder.
public struct FriendsApp: Sendable {
  private let device: String
  private let account: String
  private let server: BaseURL
  let connectivity = Connectivity()
  let accounts: LiveAccountsService
  let friends: LiveFriendsService

  /// Starts the app with the files of an account. Sends nothing.
  ///
  /// - Parameters:
  ///   - device: a folder that contains the files of the app.
  ///   - account: the name of the account.
  ///   - server: the address of the server.
  public init(on device: String, account: String, server: BaseURL) {
    let credentials = FileCredentialsStore(at: "\(device)/\(account)/credentials", key: .file("\(device)/key"))
    let connectivity = connectivity
    let client = Client(baseURL: server) {
      $0.apply(.app)
      $0.authentication = .accounts(credentials)
      $0.cache = ResponseCache(.folder("\(device)/responses", megabytes: 16), account: account)
      $0.connectivity = connectivity
      $0.connectivityPolicy = .failFast
    }
    self.device = device
    self.account = account
    self.server = server
    accounts = LiveAccountsService(client: client, credentials: credentials)
    friends = LiveFriendsService(client: client)
  }

  /// The arguments with which the demo's program starts this app without a network and prints ``startOffline()``.
  var arguments: [String] { ["--start-offline", device, "--account", account, "--base-url", "\(server)"] }

  /// Starts the app again, without the objects in memory.
  func restarted() -> FriendsApp { FriendsApp(on: device, account: account, server: server) }

  /// Loads the friends. Returns the text on the screen.
  ///
  /// - Parameter reloading: whether the user pulls to refresh. Default: `false`.
  func screen(reloading: Bool = false) async throws(CallError) -> String {
    let shown = try await friends.friendsOnScreen(reloading: reloading)
    let names = shown.page.items.prefix(3).map(\.name).joined(separator: ", ")
    return "\(shown.page.items.count) friends\(shown.isOutdated ? " (stored earlier)" : ""): \(names) …"
  }

  /// Loads the friends without a network, and again when the network is back and the user pulls to refresh.
  ///
  /// - Returns: the texts on the screen, a line each.
  public func startOffline() async throws -> String {
    connectivity.report(.offline)
    let before = try await screen()
    connectivity.report(.online)
    return "\(before)\n\(try await screen(reloading: true))"
  }
}
