// For samples of ApusAWS.
import ApusAWS
import ApusNIO

let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret")
