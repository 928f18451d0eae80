// For samples in the documentation comments of ApusCredentials.
import ApusCredentials
