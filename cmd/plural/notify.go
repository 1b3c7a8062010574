package main

import (
	"log/slog"
	"net"
	"os"
)

// notifyManager notifies systemd, or another service manager, of the state of the server:
// sd_notify(3). Without one it does nothing.
func notifyManager(logger *slog.Logger, state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err == nil {
		defer connection.Close()
		_, err = connection.Write([]byte(state))
	}
	if err != nil {
		logger.Warn("the service manager could not be notified", "state", state, "error", err)
	}
}
