#!/bin/sh
# Runs a command for a post, which it makes once it is waiting.
# prints: received com.example.changed
notifyutil -q -1 com.example.changed --exec 'echo "received $NOTIFY_NAME"' -p com.example.changed
