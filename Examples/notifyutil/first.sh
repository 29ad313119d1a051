#!/bin/sh
# Waits for a post and runs a command for it. The tool itself makes the post, once it is waiting.
# prints: received com.example.changed
notifyutil -q -1 com.example.changed --exec 'echo "received $NOTIFY_NAME"' -p com.example.changed
