package main

import (
	"log/slog"
	"net"
	"os"
)

// notifyManager tells systemd, or whoever else started the server and waits for it,
// how far it has come: sd_notify(3). Without such a manager it does nothing.
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
		logger.Warn("the service manager could not be told", "state", state, "error", err)
	}
}
