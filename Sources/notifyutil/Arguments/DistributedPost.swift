// Holds what a distributed notification is posted with.
import DarwinNotify

/// A distributed notification to post.
struct DistributedPost: Equatable {
  let name: NotificationName
  var object: String?
  var userInfo: UserInfo?
}

/// A user info with the JSON that it was read from.
struct UserInfo: Equatable {
  let text: String
  let list: PropertyList

  init(parsing text: String) throws(UserInfoReader.Mistake) {
    self.text = text
    list = try UserInfoReader.read(text)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.text == right.text
  }
}
