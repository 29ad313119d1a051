# Calls a function for each post, in a program without asyncio.
# prints: com.example.changed was posted
import threading

import darwinnotify as dn

done = threading.Event()


def changed(event):
    print(event.name, "was posted")  # on a thread of Python
    done.set()


with dn.on("com.example.changed", changed):
    dn.post("com.example.changed")
    done.wait()
