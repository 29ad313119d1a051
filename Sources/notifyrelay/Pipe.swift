// Makes pipes.

import Glibc

/// Makes a non-blocking, close-on-exec pipe. Returns `nil` if no descriptors are left.
func makePipe() -> (readEnd: CInt, writeEnd: CInt)? {
  var ends: [CInt] = [-1, -1]
  guard pipe(&ends) == 0 else { return nil }
  for end in ends {
    _ = fcntl(end, F_SETFL, O_NONBLOCK)
    _ = fcntl(end, F_SETFD, FD_CLOEXEC)
  }
  return (ends[0], ends[1])
}
